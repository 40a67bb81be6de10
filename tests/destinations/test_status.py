import pytest

from apps.destinations.models import Destination
from apps.destinations.operations.sight import flush_sightings
from apps.destinations.selectors import find
from apps.destinations.selectors.standing import standings
from tests.destinations.world import (
    DESTINATIONS,
    acknowledge,
    age_leases,
    cause,
    fill,
    lag,
    make,
    make_topic,
    publish,
    pull,
    sql,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered():
    find.forget_found()
    flush_sightings()


def seen_ago(seconds):
    """As if all workers had last come by that long ago, and been given what they were given then."""
    flush_sightings()
    sql("UPDATE worker_seen SET seen_at = seen_at - make_interval(secs => %s)", seconds)
    sql("UPDATE cursor SET served_at = served_at - make_interval(secs => %s)", seconds)


def keep_coming_for(seconds):
    """As if those that have come had come all the time since then."""
    flush_sightings()
    sql("UPDATE worker_seen SET seen_since = statement_timestamp() - make_interval(secs => %s)", seconds)


def age_events(seconds):
    sql("UPDATE event SET appended_at = appended_at - make_interval(secs => %s)", seconds)


def test_one_that_was_just_made_on_an_empty_topic_is_caught_up_with_no_lag(api):
    thing = make(api, topic=make_topic(partitions=2))
    answer = lag(api, thing["name"])
    assert answer["cause"] == {"code": "caught_up", "text": "caught up", "since": None}
    figures = ("state", "lagEvents", "lagSeconds", "exact", "inFlight", "waiting", "deadLetters")
    assert [answer[key] for key in figures] == ["active", 0, 0.0, True, 0, 0, 0]
    assert answer["partitions"][1] == {
        "partition": 1,
        "oldest": "001.00000000000000000000",
        "committed": None,
        "position": "001.00000000000000000000",
        "head": "001.00000000000000000000",
        "lagEvents": 0,
        "lagSeconds": 0.0,
        "inFlight": 0,
        "waiting": 0,
        "oldestLease": None,
        "retentionReachesInSeconds": None,
    }


def test_lag_counts_from_the_head_to_the_first_unsettled_event_leased_ones_too(api):
    thing = make(api)
    publish(api, thing["topic"], 10)
    age_events(10_000)
    first = pull(api, thing["name"], limit=2, workerId="a").json()
    second = pull(api, thing["name"], limit=3, workerId="b").json()
    acknowledge(api, thing["name"], second)
    answer = lag(api, thing["name"])
    (partition,) = answer["partitions"]
    assert (answer["lagEvents"], answer["inFlight"], answer["waiting"]) == (10, 2, 0)
    assert 10_000 <= answer["lagSeconds"] < 10_100
    assert (partition["committed"], partition["position"][-2:], partition["head"][-2:]) == (None, "05", "10")
    assert partition["oldestLease"]["leaseId"] == first["leaseId"]
    acknowledge(api, thing["name"], first)
    answer = lag(api, thing["name"])
    assert (answer["lagEvents"], answer["partitions"][0]["committed"]) == (5, "000.00000000000000000004")


def test_one_that_starts_at_the_head_of_a_topic_with_events_has_no_lag(api):
    topic = make_topic()
    publish(api, topic, 10)
    assert lag(api, make(api, topic=topic, startAt="head")["name"])["lagEvents"] == 0
    assert lag(api, make(api, topic=topic, startAt="oldest")["name"])["lagEvents"] == 10


def test_with_a_filter_lag_is_an_upper_bound_and_says_so_until_a_pull_makes_it_true(api):
    thing = make(api, filter={"types": ["never"]})
    publish(api, thing["topic"], 10)
    assert (lag(api, thing["name"])["lagEvents"], lag(api, thing["name"])["exact"]) == (10, False)
    pull(api, thing["name"])
    assert (lag(api, thing["name"])["lagEvents"], lag(api, thing["name"])["exact"]) == (0, True)


def test_lag_of_an_event_that_is_not_here_any_more_is_unknown_and_not_zero(api):
    thing = make(api)
    publish(api, thing["topic"], 10)
    sql('DELETE FROM event WHERE "offset" < 5 AND topic_id = (SELECT id FROM topic WHERE name = %s)', thing["topic"])
    sql("UPDATE topic_partition SET hot_offset = 5 WHERE topic_id = (SELECT id FROM topic WHERE name = %s)", thing["topic"])
    answer = lag(api, thing["name"])
    assert (answer["lagEvents"], answer["lagSeconds"]) == (10, None)


def test_delivering(api):
    thing = make(api)
    publish(api, thing["topic"], 10)
    pull(api, thing["name"], limit=1)
    answer = lag(api, thing["name"])
    assert (answer["state"], answer["cause"]["code"]) == ("active", "delivering")
    assert answer["cause"]["text"] == "delivering, 10 events behind"


def test_paused_by_whom_until_when_and_why(api):
    thing = make(api)
    publish(api, thing["topic"], 1)
    api.post(f"{DESTINATIONS}/{thing['name']}/pause", {"reason": "deploy", "resumeAt": "2099-01-01T14:00:00Z"})
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"]) == ("paused", "paused")
    assert found["cause"]["text"].startswith("paused by API key key-")
    assert found["cause"]["text"].endswith(" until 2099-01-01 14:00 UTC: deploy")
    assert found["cause"]["since"] is not None
    assert found["lagEvents"] == 1


def test_disabled(api):
    thing = make(api)
    sql("UPDATE consumer SET disabled_at = statement_timestamp(), disabled_reason = 'answers 410'")
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"], found["cause"]["text"]) == (
        "disabled",
        "disabled",
        "disabled: answers 410",
    )


def test_window_full(api):
    thing = make(api, window=3)
    publish(api, thing["topic"], 10)
    pull(api, thing["name"])
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"], found["cause"]["text"]) == (
        "held", "window_full", "window full: 3 of 3 leased",
    )  # fmt: skip
    age_leases(61)
    assert cause(api, thing["name"]) != "window_full"


def test_too_many_unsettled(api):
    thing = make(api, window=3, maxUnsettled=5)
    publish(api, thing["topic"], 10)
    for _ in range(2):
        acknowledge(api, thing["name"], pull(api, thing["name"]).json(), "failed", retryDelaySeconds=600)
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"]) == ("held", "too_many_unsettled")
    assert found["cause"]["text"] == "too many unsettled: 0 leased, 5 waiting (limit 5)"


def test_no_pull_yet_and_no_pull_for_a_while(api):
    thing = make(api)
    publish(api, thing["topic"], 1)
    assert lag(api, thing["name"])["cause"]["text"] == "no pull yet"
    acknowledge(api, thing["name"], pull(api, thing["name"]).json())
    publish(api, thing["topic"], 1, first=1)
    seen_ago(720)
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"], found["cause"]["text"]) == ("active", "no_pull", "no pull for 12 min")
    pull(api, thing["name"])
    flush_sightings()
    assert cause(api, thing["name"]) == "delivering"


def test_held_by_a_lease_that_comes_back_again_and_again(api):
    thing = make(api)
    publish(api, thing["topic"], 2)
    for _ in range(4):
        acknowledge(api, thing["name"], pull(api, thing["name"], limit=1, workerId="worker-7").json(), "failed")
    batch = pull(api, thing["name"], limit=1, workerId="worker-7", visibility=600).json()
    assert cause(api, thing["name"]) == "delivering"
    age_leases(61)
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"]) == ("held", "held_by_lease")
    where = "000.00000000000000000000"
    assert found["cause"]["text"] == f"cursor held at {where} by lease {batch['leaseId']} of worker-7, attempt 5"
    acknowledge(api, thing["name"], batch)
    assert cause(api, thing["name"]) != "held_by_lease"


def test_held_by_a_lease_that_is_slower_than_all_that_came_after_it(api):
    thing = make(api)
    publish(api, thing["topic"], 3)
    pull(api, thing["name"], limit=1, workerId="slow", visibility=600)
    age_leases(61)
    assert cause(api, thing["name"]) == "delivering"
    acknowledge(api, thing["name"], pull(api, thing["name"], limit=1, workerId="quick").json())
    assert cause(api, thing["name"]) == "held_by_lease"


def test_a_partition_in_order_stalls_behind_its_own_batch(api):
    thing = make(api, topic=make_topic(partitions=8), ordering="partition")
    publish(api, thing["topic"], 2)
    for _ in range(2):
        acknowledge(api, thing["name"], pull(api, thing["name"], limit=1).json(), "failed")
    pull(api, thing["name"], limit=1, visibility=600)
    age_leases(61)
    found = lag(api, thing["name"])
    assert (found["state"], found["cause"]["code"], found["cause"]["text"]) == (
        "held", "partition_stalled", "1 of 8 partitions stalled",
    )  # fmt: skip


def test_a_partition_that_nobody_serves_while_workers_come_is_stalled(api):
    thing = make(api)
    publish(api, thing["topic"], 2)
    pull(api, thing["name"], limit=1)
    acknowledge(api, thing["name"], pull(api, thing["name"], limit=1).json())
    flush_sightings()
    age_events(100)
    assert cause(api, thing["name"]) == "delivering"
    sql("UPDATE cursor SET served_at = served_at - interval '100 seconds'")
    assert cause(api, thing["name"]) == "delivering"
    keep_coming_for(61)
    assert cause(api, thing["name"]) == "partition_stalled"


def eight_partitions(api):
    """Each has events of ten minutes ago."""
    topic = make_topic(partitions=8)
    fill(topic, 10)
    age_events(600)
    return make(api, topic=topic)["name"]


def test_what_waited_while_nobody_came_is_not_stalled_by_the_first_pull(api):
    name = eight_partitions(api)
    for _ in range(8):
        acknowledge(api, name, pull(api, name, limit=1).json())
    keep_coming_for(600)
    seen_ago(90)
    assert cause(api, name) == "no_pull"
    acknowledge(api, name, pull(api, name, limit=1).json())
    assert cause(api, name) == "delivering"
    flush_sightings()
    assert cause(api, name) == "delivering"


def test_a_partition_whose_turn_has_not_come_is_not_stalled_one_that_was_passed_over_is(api):
    name = eight_partitions(api)
    for _ in range(8):
        acknowledge(api, name, pull(api, name, limit=1).json())
    keep_coming_for(600)
    # One every 20 seconds: the round takes 160.
    sql("UPDATE cursor SET served_at = statement_timestamp() - partition * interval '20 seconds'")
    assert cause(api, name) == "delivering"
    sql("UPDATE cursor SET served_at = statement_timestamp() - interval '500 seconds' WHERE partition = 7")
    assert lag(api, name)["cause"]["text"] == "1 of 8 partitions stalled"
    sql("UPDATE cursor SET served_at = statement_timestamp() - interval '100 seconds'")
    assert lag(api, name)["cause"]["text"] == "8 of 8 partitions stalled"


def test_a_hundred_take_one_statement_and_each_has_its_own_cause(api, django_assert_max_num_queries):
    topic = make_topic(partitions=4)
    names = [make(api, topic=topic)["name"] for _ in range(100)]
    publish(api, topic, 5)
    pull(api, names[7])
    with django_assert_max_num_queries(1):
        found = standings(Destination.objects.filter(topic__name=topic))
    causes = {row.destination.name: row.cause.code for row in found}
    assert len(causes) == 100
    assert causes[names[7]] == "delivering"
    assert {causes[name] for name in names if name != names[7]} == {"no_pull"}
