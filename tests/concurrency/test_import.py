"""An import killed at each step and called again: every line is in once, also of records that have no key."""

import json

import pytest
from django.core.management import call_command

from apps.topics.models import Import
from core.ids import uuid7
from tests.concurrency.killed import killed_after
from tests.factories import Api, api_key

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

IMPORTING = """
from django.core.management import call_command
from apps.topics import transfer
from apps.topics.management.commands import import_topic
from apps.topics.operations import import_part

transfer.PART = 20
write, part, finish, parts = import_part.write, import_topic.import_part, import_topic.finish, []
def write_one(*arguments):
    parts.append(1)
    if len(parts) == 2:
        reached("moved")
    write(*arguments)
    if len(parts) == 2:
        reached("written")
def one_part(*arguments):
    part(*arguments)
    if len(parts) == 2:
        reached("committed")
def end(row):
    reached("all in")
    finish(row)
    reached("finished")
import_part.write, import_topic.import_part, import_topic.finish = write_one, one_part, end
call_command("import_topic", sys.argv[2], sys.argv[3])
"""


def line(number):
    """Every third is an event with an id of its own, every third a record with a key, the others look all the same."""
    event = {"specversion": "1.0", "source": "/s", "partitionkey": "k"}
    if number % 3 == 0:
        return {**event, "id": f"e{number}", "type": "order.made", "data": number}
    record = {**event, "id": "any", "type": "towpath.record", "data": "same" if number % 3 == 1 else f"p{number}"}
    return record if number % 3 == 1 else {**record, "recordkey": f"r{number}"}


def payloads(api, name):
    found = api.get(f"/v1/topics/{name}/partitions/0/records?from=0&limit=1000").json()["records"]
    assert [record["offset"] for record in found] == list(range(len(found)))
    return [record["body"]["payload"] for record in found]


@pytest.mark.parametrize("step", ["moved", "written", "committed", "all in", "finished"])
def test_killed_at_a_step_and_called_again_every_line_is_in_once(tmp_path, step):
    api, name, file = Api(api_key()), f"t-{uuid7()}", tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(line(number)) + "\n" for number in range(47)))
    for topic in (name, f"{name}-whole"):
        api.post("/v1/topics", {"name": topic, "partitions": 1})
    killed_after(IMPORTING, step, name, file, folder=tmp_path / "cold")
    in_before = {"moved": 10, "written": 10, "committed": 20}.get(step, 47)
    assert len(payloads(api, name)) == Import.objects.get(topic__name=name).lines == in_before
    for _ in range(2):
        call_command("import_topic", name, file)
    call_command("import_topic", f"{name}-whole", file)
    assert payloads(api, name) == payloads(api, f"{name}-whole") and len(payloads(api, name)) == 47
