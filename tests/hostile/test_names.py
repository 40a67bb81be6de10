"""What can be made can be fetched, changed and deleted under its name; what could not is refused when it is made."""

from urllib.parse import quote

import pytest

from tests.endpoints import endpoints
from tests.hostile.conftest import MADE_BY

MAKERS = [endpoint.route for endpoint in endpoints() if endpoint.method == "POST" and endpoint.route in MADE_BY]
GOOD = ["a.b", "orders.v1", "new", "add", "history", "a_2Fb", "json", "a..b", "...", "-", ":", "Foo", "foo", "a.json"]
GOOD += ["n" * size for size in (1, 48, 58, 63, 64, 200)]
BAD = [
    "a/b",
    "a%2Fb",
    "..",
    ".",
    "a b",
    "",
    " a",
    "a ",
    "n" * 201,
    "n" * 255,
    "é" * 60,
    "😀",
    "a\u200fb",
    "june!!",
    "a\nb",
    "a*",
]
BAD += [
    "019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5a",
    "019ac2f09d2c7c1e8f0a5b1e2d3c4b5a",
    "urn:uuid:019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5a",
]


def unwrapped(answer):
    body = answer.json()
    return body.get("data", body)


@pytest.mark.django_db
@pytest.mark.parametrize("route", MAKERS)
def test_a_good_name_can_be_used_for_everything(route, world):
    for name in GOOD:
        made = world.post(route, {**MADE_BY[route], "name": name})
        assert made.status_code == 201, (name, made.content)
        thing = unwrapped(made)
        for path in (f"{route}/{quote(name)}", f"{route}/{thing['id']}", made["Location"]):
            found = world.get(path)
            assert found.status_code == 200, (path, found.content)
            assert (unwrapped(found)["name"], unwrapped(found)["id"]) == (name, thing["id"])
        changed = world.patch(f"{route}/{quote(name)}", {})
        assert changed.status_code == 200, (name, changed.content)
        taken = world.post(route, {**MADE_BY[route], "name": name})
        assert (taken.status_code, taken.json()["error"]["code"]) == (409, "NAME_TAKEN")
        assert world.delete(f"{route}/{quote(name)}").status_code in (200, 204)
        assert world.get(f"{route}/{quote(name)}").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("route", MAKERS)
def test_a_bad_name_is_refused_and_nothing_is_made(route, world, nothing_stored):
    with nothing_stored():
        for name in [*BAD, "a\x00b", "\ud83d", None, 1, [], {}]:
            refused = world.post(route, {**MADE_BY[route], "name": name})
            assert refused.status_code == 400, (name, refused.content)
            assert refused.json()["error"]["details"]["field"] == "name", (name, refused.content)


@pytest.mark.django_db
@pytest.mark.parametrize("route", MAKERS)
def test_a_list_shows_every_name_once_and_page_by_page(route, world):
    names = sorted(f"page-{number}" for number in range(5))
    for name in names:
        assert world.post(route, {**MADE_BY[route], "name": name}).status_code == 201
    seen, query = [], "limit=2"
    while query:
        page = unwrapped(world.get(f"{route}?{query}"))
        seen += [item["name"] for item in page["items"]]
        query = page["nextCursor"] and f"limit=2&cursor={page['nextCursor']}"
    assert seen == sorted([*names, "hostile"], key=seen.index)
    assert set(seen) == {*names, "hostile"} and len(seen) == 6
