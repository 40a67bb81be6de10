import pytest

from apps.destinations.selectors import find
from tests.destinations.world import DESTINATIONS, make, make_topic, sql
from tests.factories import unique

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered():
    find.forget_found()


def consumers_of(topic):
    return sql("SELECT count(*) FROM consumer JOIN topic ON topic.id = topic_id WHERE topic.name = %s", topic)[0][0]


def error(answer):
    return answer.json()["error"]


def test_it_is_made_with_every_field_in_force_and_found_by_id_and_name(api):
    topic = make_topic()
    name = unique("billing")
    made = api.post(DESTINATIONS, {"name": name, "type": "DURABLE_CONSUMER", "topic": topic})
    thing = made.json()
    assert made.status_code == 201
    assert made.headers["Location"] == f"{DESTINATIONS}/{thing['id']}"
    assert {key: thing[key] for key in thing if key not in ("id", "createdAt", "updatedAt")} == {
        "name": name,
        "type": "DURABLE_CONSUMER",
        "topic": topic,
        "filter": None,
        "startAt": "head",
        "window": 1000,
        "maxUnsettled": 10000,
        "maxDeliveries": 0,
        "ordering": "none",
        "retryBackoff": False,
        "state": "active",
        "pausedAt": None,
        "pauseReason": None,
        "resumeAt": None,
        "cause": {"code": "caught_up", "text": "caught up", "since": None},
    }
    assert api.get(f"{DESTINATIONS}/{name}").json() == api.get(f"{DESTINATIONS}/{thing['id']}").json() == thing


def test_all_that_is_given_reads_back(api):
    given = {
        "filter": {"types": ["order.*", "é_%\\"], "subjectPrefix": "sku-", "sourcePrefix": "/shop"},
        "startAt": {"time": "2026-01-01T00:00:00Z"},
        "window": 10,
        "maxUnsettled": 11,
        "ordering": "partition",
        "retryBackoff": True,
    }
    thing = make(api, **given)
    assert {key: thing[key] for key in given} == given


def test_a_missing_topic_is_made_unless_the_installation_says_no(api, settings):
    topic = unique("topic")
    make(api, topic=topic)
    assert sql("SELECT count(*) FROM topic WHERE name = %s", topic) == [(1,)]
    settings.TOWPATH = {**settings.TOWPATH, "CREATE_TOPICS_ON_USE": False}
    refused = api.post(DESTINATIONS, {"name": unique("d"), "type": "DURABLE_CONSUMER", "topic": unique("topic")})
    assert refused.status_code == 404


def test_a_name_is_taken_once(api):
    thing = make(api)
    again = api.post(DESTINATIONS, {"name": thing["name"], "type": "DURABLE_CONSUMER", "topic": thing["topic"]})
    assert (again.status_code, error(again)["code"], error(again)["details"]) == (409, "NAME_TAKEN", {"field": "name"})
    assert sql("SELECT count(*) FROM consumer WHERE topic_id = (SELECT id FROM topic WHERE name = %s)", thing["topic"]) == [
        (1,)
    ]


@pytest.mark.parametrize(
    "name", ["a/b", "..", ".", "a b", "", "é", "x" * 201, "019ad2f0-3c1e-7a52-b0a6-5d3f0f3f9a10", "a\u200f"]
)
def test_what_could_not_be_fetched_is_not_made(api, name):
    refused = api.post(DESTINATIONS, {"name": name, "type": "DURABLE_CONSUMER", "topic": "t"})
    assert (refused.status_code, error(refused)["details"]["field"]) == (400, "name")


@pytest.mark.parametrize("name", ["a.b", "new", "add", "history", "json", "a_2Fb", "x" * 200, "-", "A:1"])
def test_what_is_made_can_be_fetched_changed_and_deleted(api, name):
    make(api, name=name)
    assert api.get(f"{DESTINATIONS}/{name}").json()["name"] == name
    assert api.patch(f"{DESTINATIONS}/{name}", {"window": 5}).json()["window"] == 5
    assert api.post(f"{DESTINATIONS}/{name}/pull").status_code == 204
    assert api.delete(f"{DESTINATIONS}/{name}").status_code == 204
    assert api.get(f"{DESTINATIONS}/{name}").status_code == 404


def test_case_counts_in_names(api):
    upper, lower = make(api, name=unique("Foo")), make(api, name=unique("foo"))
    assert upper["name"] != lower["name"]


@pytest.mark.parametrize(
    ("field", "value", "low", "high"),
    [
        ("window", 0, 1, 10_000),
        ("window", 10_001, 1, 10_000),
        ("maxUnsettled", 1_000_001, 1, 1_000_000),
        ("maxDeliveries", -1, 0, 1_000),
        ("maxDeliveries", 1_001, 0, 1_000),
    ],
)
def test_out_of_range_states_the_range(api, field, value, low, high):
    refused = api.post(DESTINATIONS, {"name": "n", "type": "DURABLE_CONSUMER", "topic": "t", field: value})
    assert refused.status_code == 400
    assert error(refused)["details"] == {"field": field, "min": low, "max": high}


def test_max_unsettled_is_at_least_the_window(api):
    refused = api.post(
        DESTINATIONS, {"name": "n", "type": "DURABLE_CONSUMER", "topic": "t", "window": 50, "maxUnsettled": 49}
    )
    assert error(refused)["details"] == {"field": "maxUnsettled", "min": 50, "max": 1_000_000}


@pytest.mark.parametrize(
    "surplus",
    [
        {"windw": 1},
        {"window": True},
        {"window": 1.0},
        {"window": "1"},
        {"ordering": "global"},
        {"type": "TELEPATHY"},
        {"filter": {"types": []}},
        {"filter": {"type": "x"}},
        {"filter": {"types": ["a\u0000"]}},
        {"startAt": "tail"},
        {"startAt": {}},
        {"startAt": {"time": "2026-01-01T00:00:00Z", "sequence": "000.00000000000000000000"}},
        {"startAt": {"time": "yesterday"}},
        {"startAt": {"sequence": "0.0"}},
        {"startAt": {"sequence": []}},
        {"webhook": {"url": "https://example.org"}},
        {"name": None},
    ],
)
def test_what_is_not_understood_is_refused_and_leaves_no_row(api, surplus):
    before = sql("SELECT count(*) FROM destination"), sql("SELECT count(*) FROM consumer"), sql("SELECT count(*) FROM topic")
    refused = api.post(DESTINATIONS, {"name": "n", "type": "DURABLE_CONSUMER", "topic": "t", **surplus})
    assert refused.status_code == 400, refused.content
    after = sql("SELECT count(*) FROM destination"), sql("SELECT count(*) FROM consumer"), sql("SELECT count(*) FROM topic")
    assert before == after


def test_a_start_outside_the_log_leaves_no_row(api):
    topic = make_topic()
    place = {"sequence": "000.00000000000000000005"}
    refused = api.post(DESTINATIONS, {"name": "n", "type": "DURABLE_CONSUMER", "topic": topic, "startAt": place})
    assert (refused.status_code, error(refused)["details"]["field"]) == (400, "startAt")
    assert consumers_of(topic) == 0


def test_a_change_keeps_what_it_does_not_name(api):
    thing = make(api, window=10, ordering="partition", filter={"types": ["a"]})
    changed = api.patch(f"{DESTINATIONS}/{thing['id']}", {"window": 20}).json()
    assert (changed["window"], changed["ordering"], changed["filter"]) == (20, "partition", thing["filter"])
    assert changed["updatedAt"] > thing["updatedAt"]
    assert changed["createdAt"] == thing["createdAt"]
    assert api.patch(f"{DESTINATIONS}/{thing['id']}", {"filter": None}).json()["filter"] is None
    assert api.patch(f"{DESTINATIONS}/{thing['id']}", {}).status_code == 200


def test_a_max_unsettled_nobody_chose_follows_the_window(api):
    thing = make(api, window=10)
    path = f"{DESTINATIONS}/{thing['name']}"
    assert api.patch(path, {"window": 200}).json()["maxUnsettled"] == 2000
    assert api.patch(path, {"maxUnsettled": 300}).json()["maxUnsettled"] == 300
    assert api.patch(path, {"window": 100}).json()["maxUnsettled"] == 300
    assert error(api.patch(path, {"window": 301}))["details"] == {"field": "maxUnsettled", "min": 301, "max": 1_000_000}
    assert api.patch(path, {"maxUnsettled": None}).json()["maxUnsettled"] == 1000


@pytest.mark.parametrize("field", ["type", "topic", "startAt", "queue", "webhook", "channel"])
def test_what_cannot_be_changed_is_named(api, field):
    thing = make(api)
    refused = api.patch(f"{DESTINATIONS}/{thing['name']}", {field: thing.get(field, {})})
    assert (refused.status_code, error(refused)["details"]) == (400, {"field": field})


def test_a_renamed_one_is_found_by_its_new_name_only(api):
    thing, other = make(api), make(api)
    name = unique("renamed")
    assert api.patch(f"{DESTINATIONS}/{thing['name']}", {"name": other["name"]}).status_code == 409
    assert api.patch(f"{DESTINATIONS}/{thing['name']}", {"name": name}).json()["name"] == name
    assert api.post(f"{DESTINATIONS}/{name}/pull").status_code == 204
    assert api.post(f"{DESTINATIONS}/{thing['name']}/pull").status_code == 404


def test_a_deleted_one_leaves_nothing_but_its_record(api):
    thing = make(api)
    assert api.delete(f"{DESTINATIONS}/{thing['name']}").status_code == 204
    assert api.delete(f"{DESTINATIONS}/{thing['name']}").status_code == 404
    topic = sql("SELECT id FROM topic WHERE name = %s", thing["topic"])[0][0]
    for table in ("consumer", "cursor", "lease"):
        assert sql(f"SELECT count(*) FROM {table} WHERE topic_id = %s", topic) == [(0,)]
    assert api.delete(f"/v1/topics/{thing['topic']}").status_code == 204


def test_a_topic_with_a_destination_is_in_use(api):
    thing = make(api)
    refused = api.delete(f"/v1/topics/{thing['topic']}")
    assert (refused.status_code, error(refused)["code"]) == (409, "TOPIC_IN_USE")


def test_lists_filter_and_page(api):
    names = sorted(make(api, topic=topic)["name"] for topic in [make_topic()] * 3)
    topic = api.get(f"{DESTINATIONS}/{names[0]}").json()["topic"]
    make(api)
    api.post(f"{DESTINATIONS}/{names[1]}/pause")
    first = api.get(f"{DESTINATIONS}?topic={topic}&limit=2").json()
    rest = api.get(f"{DESTINATIONS}?topic={topic}&limit=2&cursor={first['nextCursor']}").json()
    assert [item["name"] for item in first["items"] + rest["items"]] == names
    assert rest["nextCursor"] is None
    paused = api.get(f"{DESTINATIONS}?topic={topic}&state=paused").json()["items"]
    assert [item["name"] for item in paused] == [names[1]]
    assert api.get(f"{DESTINATIONS}?topic={topic}&type=WEBHOOK").json()["items"] == []


@pytest.mark.parametrize(
    "query", ["state=happy", "type=", "limit=0", "limit=201", "cursor=x", "stat=paused", "limit=1&limit=2"]
)
def test_a_list_refuses_what_it_does_not_know(api, query):
    assert api.get(f"{DESTINATIONS}?{query}").status_code == 400


def test_a_list_of_many_takes_as_many_queries_as_one_of_few(api, django_assert_max_num_queries):
    topic = make_topic(partitions=8)
    for _ in range(30):
        make(api, topic=topic)
    with django_assert_max_num_queries(8):
        assert len(api.get(f"{DESTINATIONS}?topic={topic}").json()["items"]) == 30


def test_patterns_narrow_every_name_a_call_touches(api, api_with):
    topic, name = make_topic(), unique("d")
    body = {"name": name, "type": "DURABLE_CONSUMER", "topic": topic}
    assert api_with(f"manage:events {name}", "read:events other").post(DESTINATIONS, body).status_code == 404
    assert api_with("manage:events other", f"read:events {topic}").post(DESTINATIONS, body).status_code == 404
    assert api_with(f"manage:events {name}").post(DESTINATIONS, body).status_code == 403
    manager = api_with(f"manage:events {name}", f"read:events {topic}")
    assert manager.post(DESTINATIONS, body).status_code == 201
    assert manager.get(f"{DESTINATIONS}/{name}").status_code == 404
    assert manager.patch(f"{DESTINATIONS}/{name}", {"name": unique("elsewhere")}).status_code == 404
    reader = api_with(f"read:events {name}")
    assert reader.get(f"{DESTINATIONS}/{name}").status_code == 200
    assert reader.post(f"{DESTINATIONS}/{name}/pull").status_code == 204
    assert reader.delete(f"{DESTINATIONS}/{name}").status_code == 403
    assert [item["name"] for item in reader.get(DESTINATIONS).json()["items"]] == [name]


def test_every_change_leaves_a_record_with_before_and_after(api):
    thing = make(api)
    path = f"{DESTINATIONS}/{thing['name']}"
    api.patch(path, {"window": 7, "maxUnsettled": 70})
    api.post(f"{path}/pause", {"reason": "deploy", "resumeAt": "2099-01-01T00:00:00Z"})
    api.post(f"{path}/resume", {"reason": "done"})
    api.delete(path)
    rows = sql(
        "SELECT verb, before->>'window', after->>'window', after->>'resumeAt', reason FROM access_audit"
        " WHERE object_kind = 'destination' AND object_id = %s ORDER BY at, id", thing["id"],
    )  # fmt: skip
    assert rows == [
        ("create", None, "1000", None, ""),
        ("change", "1000", "7", None, ""),
        ("pause", None, None, "2099-01-01T00:00:00.000000Z", "deploy"),
        ("resume", None, None, None, "done"),
        ("delete", "7", None, None, ""),
    ]


def test_a_change_that_fails_leaves_no_record(api):
    thing = make(api)
    api.patch(f"{DESTINATIONS}/{thing['name']}", {"window": 7, "maxUnsettled": 5})
    assert sql("SELECT count(*) FROM access_audit WHERE object_id = %s AND verb = 'change'", thing["id"]) == [(0,)]


def test_a_list_is_narrowed_by_the_whole_name(api):
    one, _ = make(api), make(api)
    assert [item["name"] for item in api.get(f"{DESTINATIONS}?name={one['name']}").json()["items"]] == [one["name"]]
    assert api.get(f"{DESTINATIONS}?name={one['name'][:-1]}x").json()["items"] == []
