import json
import sys

import jsonschema
import msgspec
import pytest
from django.conf import settings
from django.core.management import call_command

from apps.access.api import views

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def document():
    return json.loads(views.document())


def operations(document):
    return [(path, method, found) for path, item in document["paths"].items() for method, found in item.items()]


def test_the_document_is_valid_and_drf_spectacular_has_no_doubts(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "openapi.yaml"))


def test_anyone_may_read_it(anyone):
    answer = anyone.get("/v1/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1")


def test_the_page_to_try_it_by_hand_loads_only_from_this_server(anyone):
    page = anyone.get("/docs")
    assert page.status_code == 200
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert "//" not in page.content.decode().replace("<!doctype", "")
    for line in page.content.decode().split('"'):
        if line.startswith("/static/"):
            found = anyone.get(line)
            assert found.status_code == 200, line
            found.close()


def test_every_operation_has_a_name_a_tag_and_its_scope(document):
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    for path, method, operation in operations(document):
        assert operation["tags"][0] in settings.API_SECTIONS.values(), (path, method)
        assert operation["summary"].strip(), (path, method)
        assert "Scope: " in operation["description"] or operation["security"] == [{}], (path, method)


def test_the_page_to_try_it_by_hand_says_in_words_what_a_call_does(document):
    pull = document["paths"]["/v1/event-destinations/{destination}/pull"]["post"]
    assert (pull["summary"], pull["tags"]) == ("Pull", ["Destinations"])
    making = document["paths"]["/v1/topics"]["post"]
    assert (making["summary"], making["tags"]) == ("Make topic", ["Topics and consumer groups"])


def test_every_operation_says_which_errors_it_may_answer(document):
    for path, method, operation in operations(document):
        assert {"400", "503"} <= operation["responses"].keys(), (path, method)
        if "requestBody" in operation:
            assert {"413", "415"} <= operation["responses"].keys(), (path, method)


def test_examples_of_requests_are_what_their_schemas_allow(document):
    for path, method, operation in operations(document):
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            for name, example in media.get("examples", {}).items():
                schema = {**media["schema"], "components": document["components"]}
                jsonschema.validate(example["value"], schema), (path, method, kind, name)


def test_no_two_shapes_of_bodies_or_answers_share_a_name(document):
    """They would be one in the document, whichever came first."""
    named = {}
    for module in [name for name in sys.modules if name.startswith("apps.") and ".api.schemas" in name]:
        for shape in vars(sys.modules[module]).values():
            if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
                assert named.setdefault(shape.__name__, shape) is shape
    assert {"Seek", "DestinationSeek"} <= named.keys()
    schemas = document["components"]["schemas"]
    assert [schemas[name]["required"] for name in ("Seek", "DestinationSeek")] == [["to"], ["to", "reason"]]
