import pytest

from apps.console import metrics
from apps.destinations.models import Destination
from apps.destinations.operations.sample import sample_lag, thin_samples
from apps.destinations.selectors import find
from apps.destinations.selectors.samples import history, latest
from core.partitions import roll
from tests.destinations.world import DESTINATIONS, lag, make, make_topic, publish, pull, sql

pytestmark = pytest.mark.django_db
EPOCH = "1970-01-01 00:00:00+00"


@pytest.fixture(autouse=True)
def nothing_remembered():
    find.forget_found()


def key(thing):
    return Destination.objects.values_list("topic_id", "consumer_id").get(name=thing["name"])


def sample_dated_back(thing, text, lag_events=0):
    sql(
        "INSERT INTO lag_sample (topic_id, consumer_id, at, lag_events, in_flight, waiting, head, settled)"
        " VALUES (%s, %s, statement_timestamp() - %s::interval, %s, 0, 0, 0, 0)", *key(thing), text, lag_events,
    )  # fmt: skip


def test_a_sample_says_what_lag_says(api):
    thing = make(api, window=3)
    publish(api, thing["topic"], 10)
    pull(api, thing["name"])
    assert sample_lag() == 1
    (sample,) = history(*key(thing), seconds=60)
    said = lag(api, thing["name"])
    assert (sample.lag_events, sample.in_flight, sample.waiting) == (said["lagEvents"], said["inFlight"], said["waiting"])
    assert (sample.state, sample.cause) == (said["state"], said["cause"]["code"]) == ("held", "window_full")
    assert (sample.head, sample.settled) == (10, 0)
    (newest,) = latest()
    assert (newest.kind, newest.topic, newest.name) == ("destination", thing["topic"], thing["name"])
    assert newest.lag_events == sample.lag_events


def test_the_same_fifteen_seconds_are_sampled_once(api):
    thing = make(api)
    sql(
        "INSERT INTO lag_sample SELECT topic_id, consumer_id,"
        " date_bin('15 s', statement_timestamp() + n * interval '15 s', %s), 0, 0, 0, 0, 0, 0"
        " FROM destination, generate_series(0, 20) AS n", EPOCH,
    )  # fmt: skip
    assert sample_lag() == 0
    assert len(history(*key(thing), seconds=600)) == 21


def test_all_are_sampled_and_groups_have_no_cause(api):
    topic = make_topic(partitions=2)
    for _ in range(3):
        make(api, topic=topic)
    sql("UPDATE consumer SET kind = 'group', name = 'readers' WHERE id = (SELECT max(id) FROM consumer)")
    sql("DELETE FROM destination WHERE consumer_id = (SELECT max(id) FROM consumer)")
    assert sample_lag() == 3
    assert [(row.kind, row.cause) for row in latest()].count(("group", None)) == 1
    assert "readers" in [row.name for row in latest()]


def test_one_that_was_not_sampled_lately_is_missing_rather_than_zero(api):
    thing = make(api)
    sample_dated_back(thing, "6 minutes")
    assert latest() == []
    assert api.get(f"{DESTINATIONS}/{thing['name']}").status_code == 200


def test_after_a_day_the_first_of_each_five_minutes_is_kept(api):
    thing = make(api)
    sql(
        "INSERT INTO lag_sample SELECT topic_id, consumer_id,"
        " date_bin('1 hour', statement_timestamp() - interval '26 hours', %s) + n * interval '15 s', n, 0, 0, 0, 0, 0"
        " FROM destination, generate_series(0, 59) AS n", EPOCH,
    )  # fmt: skip
    sample_dated_back(thing, "1 hour", 99)
    sample_dated_back(thing, "1 hour 15 s", 98)
    assert thin_samples() == 57
    assert [sample.lag_events for sample in history(*key(thing), seconds=200_000)] == [0, 20, 40, 98, 99]
    assert thin_samples() == 0


def test_after_thirty_days_the_day_is_dropped(api):
    thing = make(api)
    sample_dated_back(thing, "32 days")
    sample_dated_back(thing, "29 days")
    roll()
    assert len(history(*key(thing), seconds=10_000_000)) == 1


def test_the_metrics_say_what_the_newest_sample_says(api, monkeypatch):
    thing = make(api)
    publish(api, thing["topic"], 10)
    monkeypatch.setattr(metrics, "_looked_at", 0.0)
    sample_lag()
    reader = f'kind="destination",name="{thing["name"]}",topic="{thing["topic"]}"'
    assert f"towpath_lag_events{{{reader}}} 10.0" in metrics.exposition().decode()
