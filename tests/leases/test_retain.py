"""Retention of cold events: whose turn it is to go, what readers in the way are told, and what puts things right."""

import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from apps.access.models import Audit
from apps.destinations.selectors.status import statuses
from apps.leases.operations import retain
from apps.leases.operations.pull import Nothing, pull
from apps.topics.models import OnLag, Repair, Sweep
from apps.topics.operations import expire, reconcile, spill
from core.sequence import sequence
from tests.logs import Log, sql
from tests.topics.cold import hot, let_leaving_go, objects, publish, sweep, topic_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder")]
DAY = 86_400


def aged(api, *ages, **settings):
    """A topic with a cold segment of ten events for each age in days, and two hot events."""
    topic = topic_of(api, hot_records=2, hot_seconds=99 * DAY, **{"cold_seconds": 5 * DAY, **settings})
    for number, age in enumerate(ages):
        publish(api, topic, 10 if number else 12, start=number * 10 + (2 if number else 0))
        sql(
            "UPDATE event SET appended_at = statement_timestamp() - %s * interval '1 day' WHERE topic_id = %s", age, topic.id
        )
        assert sweep(topic) == 10
    return topic


def bounds(api, topic):
    found = api.get(f"/v1/topics/{topic.name}/bounds").json()[0]
    return found["oldestOffset"], found["hotOffset"], found["nextOffset"]


def test_whole_segments_go_whose_last_event_is_past_the_replay_window(api, folder):
    topic = aged(api, 9, 8, 2)
    assert retain.retain() == 2
    assert bounds(api, topic) == (20, 30, 32)
    gone = api.get(f"/v1/topics/{topic.name}/partitions/0/records?from=19")
    assert gone.status_code == 410 and gone.json()["error"]["details"]["oldestOffset"] == 20
    assert len(api.get(f"/v1/topics/{topic.name}/partitions/0/records?from=20").json()["records"]) == 12


def test_without_a_replay_window_nothing_goes(api):
    aged(api, 90, cold_seconds=None)
    assert retain.retain() == 0


def test_objects_go_ten_minutes_after_they_were_forgotten(api, folder):
    topic = aged(api, 9, 2)
    retain.retain()
    assert expire.delete_forgotten() == 0 and len(objects(folder / "segments")) == 2
    sql("UPDATE segment SET forgotten_at = forgotten_at - interval '11 minutes' WHERE topic_id = %s", topic.id)
    assert expire.delete_forgotten() == 1 and len(objects(folder / "segments")) == 1
    assert reconcile.reconcile_topic(topic) == 0 and Sweep.objects.get(topic=topic).problems == []


@pytest.mark.parametrize(
    ("ages", "protected"), [((9, 8), {}), ((9, 8), {"protect_seconds": 4 * DAY}), ((9,), {"protect_bytes": 10**9})]
)
def test_what_a_reader_has_not_read_is_protected(api, ages, protected):
    topic = aged(api, *ages, **{"protect_seconds": 30 * DAY, **protected})
    Log(topic).consumer()
    expected = 1 if protected.get("protect_seconds") else 0
    assert retain.retain() == expected  # the one of nine days is past five and four


def test_protection_ends_with_its_bytes(api):
    topic = aged(api, 9, 8, protect_seconds=30 * DAY, protect_bytes=1_500)
    Log(topic).consumer()
    assert retain.retain() == 1


def test_what_is_read_by_all_is_not_protected(api):
    topic = aged(api, 9, 8, protect_seconds=30 * DAY)
    reader = Log(topic).consumer()
    lease = reader.pull(limit=10)
    assert retain.retain() == 0  # leased is not settled
    reader.ok(lease)
    assert retain.retain() == 1


def destination(api, topic, **settings):
    made = {"name": f"d-{topic.name}", "type": "DURABLE_CONSUMER", "topic": topic.name, "startAt": "oldest", **settings}
    return f"/v1/event-destinations/{api.post('/v1/event-destinations', made).json()['name']}"


def test_a_reader_that_is_passed_is_told_once_and_it_stays_written_down(api):
    topic = aged(api, 9, 8, 2, on_lag=OnLag.EXPIRE)
    one = destination(api, topic)
    assert retain.retain() == 2
    batch = api.post(f"{one}/pull?limit=100").json()
    assert batch["skipped"] == [{"partition": 0, "from": sequence(0, 0), "to": sequence(0, 19)}]
    assert batch["events"][0]["sequence"] == sequence(0, 20)
    assert "skipped" not in api.post(f"{one}/pull").json()
    lag = api.get(f"{one}/lag").json()
    assert [(each["from"], each["to"]) for each in lag["skipped"]] == [(sequence(0, 0), sequence(0, 19))]


@pytest.mark.parametrize("state", ["never pulled", "paused", "disabled"])
@pytest.mark.parametrize("policy", OnLag)
def test_the_policy_holds_for_a_reader_that_does_not_come(api, state, policy):
    topic = aged(api, 9, 8, 2, on_lag=policy, protect_seconds=30 * DAY)
    one = destination(api, topic)
    if state == "paused":
        api.post(f"{one}/pause", {})
    if state == "disabled":
        sql("UPDATE consumer SET disabled_at = statement_timestamp() WHERE topic_id = %s", topic.id)
    assert retain.retain() == (2 if policy == OnLag.EXPIRE else 0)
    lag = api.get(f"{one}/lag").json()
    assert lag["lagEvents"] == (12 if policy == OnLag.EXPIRE else 32)
    assert len(lag["skipped"]) == (policy == OnLag.EXPIRE)


def test_leases_of_what_is_gone_are_stale_and_one_across_the_bound_keeps_the_rest(api):
    topic = aged(api, 9, 2, on_lag=OnLag.EXPIRE)
    reader = Log(topic).consumer()
    gone, across = reader.pull("a", limit=8), reader.pull("b", limit=6)
    retain.retain()
    assert reader.ok(gone).status == "stale"
    again = reader.batch("b")
    assert list(again.lease.offsets) == list(range(10, 14)) and len(again.events) == 4
    assert reader.ok(across).status == "committed" and reader.unsettled() == 14


def test_a_picked_lease_across_the_bound_keeps_what_it_picked_behind_it(api):
    topic = aged(api, 9, 2, on_lag=OnLag.EXPIRE)
    reader = Log(topic).consumer(types=["t.1"])
    batch = reader.batch("b", limit=6)
    assert list(batch.lease.offsets) == [1, 4, 7, 10, 13, 16]
    retain.retain()
    again = reader.batch("b")
    assert list(again.lease.offsets) == [10, 13, 16] and again.events == batch.events[3:]


def test_a_group_in_the_way_gets_410_and_goes_on_from_the_oldest(api):
    topic = aged(api, 9, 2, on_lag=OnLag.EXPIRE)
    place = f"/v1/topics/{topic.name}/partitions/0"
    api.post(f"{place}/commit", {"group": "g", "offset": 3})
    retain.retain()
    gone = api.get(f"{place}/consume?group=g")
    assert gone.status_code == 410
    api.post(f"{place}/commit", {"group": "g", "offset": gone.json()["error"]["details"]["oldestOffset"]})
    assert api.get(f"{place}/consume?group=g").json()["records"][0]["offset"] == 10


def test_an_operator_lets_go_whatever_the_policy_and_that_is_told_too(api):
    topic = aged(api, 9, 2, cold_seconds=None)
    one = destination(api, topic)
    before = (datetime.now(UTC) - timedelta(days=5)).isoformat()
    assert api.post(f"/v1/topics/{topic.name}/expire-cold", {"before": before}).json() == {"segments": 1}
    assert bounds(api, topic)[0] == 10
    assert api.post(f"{one}/pull").json()["skipped"]
    assert Audit.objects.filter(verb="expire-cold", object_name=topic.name).exists()
    assert api.post(f"/v1/topics/{topic.name}/expire-cold", {"before": "yesterday"}).status_code == 400


def test_it_warns_before_retention_reaches_what_is_unread(api):
    topic = aged(api, 4.9, on_lag=OnLag.EXPIRE)
    one = destination(api, topic)
    lag = api.get(f"{one}/lag").json()
    assert lag["cause"]["code"] == "retention_near"
    assert 0 < lag["partitions"][0]["retentionReachesInSeconds"] <= 0.11 * DAY
    assert lag["partitions"][0]["lagSeconds"] >= 4.8 * DAY


@pytest.mark.parametrize(("offset", "days"), [(0, 4.0), (3, 3.0), (9, 1.0)])
def test_a_cold_event_is_as_old_as_its_place_between_the_ends_of_its_segment_says(api, offset, days):
    topic = aged(api, 1, on_lag=OnLag.EXPIRE)
    sql("UPDATE segment SET first_at = last_at - interval '3 days' WHERE topic_id = %s", topic.id)
    reader = Log(topic).consumer(start=[(0, offset)])
    (found,) = statuses([(topic.id, reader.number)])[topic.id, reader.number].partitions
    assert days * DAY <= found.lag_seconds < (days + 0.1) * DAY
    assert 3.9 * DAY < found.retention_reaches_in <= 4 * DAY  # by the last of its segment


def test_what_retention_took_was_not_settled(api):
    topic = aged(api, 9, 8, 2)
    _, halfway, through = readers = [Log(topic).consumer() for _ in range(3)]
    for reader in (halfway, through):
        batch = pull(topic.id, reader.number, limit=15)
        assert not isinstance(batch, Nothing) and len(batch.events) in (10, 15)
    through.ok(batch.lease)
    for before, oldest in ((0, 10), (10, 20)):
        retain.let_go(topic.id, 0, before, oldest)
        found = statuses((topic.id, reader.number) for reader in readers)
        assert [found[topic.id, reader.number].partitions[0].settled for reader in readers] == [0, 0, 15]


def test_a_missed_sweep_is_found_from_the_rows_and_made_up_for(api):
    topic = topic_of(api, hot_records=2)
    publish(api, topic, 20)
    assert reconcile.reconcile_topic(topic) == 1
    assert hot(topic) == [18, 19]
    assert Repair.objects.get(topic_id=topic.id).kind == "missed_sweep"
    publish(api, topic, 20, start=20)
    assert reconcile.reconcile_topic(topic) == 0  # one came by just now


def test_an_object_without_an_index_row_goes_after_an_hour(api, folder):
    topic = topic_of(api, hot_records=2)
    publish(api, topic, 20)
    spill.put(topic, 0, spill.read_over(topic, 0))
    (orphan,) = objects(folder / "segments")
    Sweep.objects.create(topic=topic, swept_at=datetime.now(UTC))
    assert reconcile.reconcile_topic(topic) == 0 and orphan.exists()
    os.utime(orphan, (time.time() - 3_700,) * 2)
    assert reconcile.reconcile_topic(topic) == 1 and reconcile.reconcile_topic(topic) == 0
    assert expire.delete_forgotten() == 0 and orphan.exists()
    assert let_leaving_go(topic) == 1 and not orphan.exists()
    assert reconcile.reconcile_topic(topic) == 0
    assert sql("SELECT count(*) FROM segment_leaving WHERE topic_id = %s", topic.id) == [(0,)]


def test_what_a_write_left_that_was_killed_in_its_middle_goes_after_an_hour(api, folder):
    topic = aged(api, 1)
    (whole,) = objects(folder / "segments")
    half, probe = whole.with_name(f"{whole.name}#1"), folder / "probe" / "left"
    probe.parent.mkdir(exist_ok=True)
    for path in (half, probe):
        path.write_bytes(b"half")
    assert reconcile.reconcile_topic(topic) == 0 and half.exists()
    for path in (half, probe):
        os.utime(path, (time.time() - 3_700,) * 2)
    assert reconcile.reconcile() == 1 and not half.exists() and not probe.exists()
    assert set(Repair.objects.values_list("kind", flat=True)) == {"unfinished_write"}
    assert whole.exists() and reconcile.reconcile_topic(topic) == 0


def test_an_index_row_without_an_object_is_a_problem_that_is_shown(api, folder):
    topic = aged(api, 1)
    objects(folder / "segments")[0].unlink()
    assert reconcile.reconcile_topic(topic) == 0
    assert "object missing" in Sweep.objects.get(topic=topic).problems[0]


def test_rows_that_a_segment_holds_too_are_removed_and_a_gap_is_a_problem(api):
    topic = aged(api, 1)
    sql('INSERT INTO event SELECT topic_id, partition, kind, "offset" - 10, appended_at, total_bytes, partition_key, key,'
        " type, source, subject, body FROM event WHERE topic_id = %s", topic.id)  # fmt: skip
    assert hot(topic) == [0, 1, 10, 11]
    assert reconcile.reconcile_topic(topic) == 1 and hot(topic) == [10, 11]
    sql('DELETE FROM event WHERE topic_id = %s AND "offset" = 10', topic.id)
    reconcile.reconcile_topic(topic)
    assert "rows begin at 11" in Sweep.objects.get(topic=topic).problems[0]


def test_what_a_deleted_destination_lost_is_forgotten_with_it(api):
    topic = aged(api, 9, 2, on_lag=OnLag.EXPIRE)
    one = destination(api, topic)
    retain.retain()
    assert sql("SELECT count(*) FROM skipped_range WHERE topic_id = %s", topic.id) == [(1,)]
    assert api.delete(one).status_code == 204
    assert sql("SELECT count(*) FROM skipped_range WHERE topic_id = %s", topic.id) == [(0,)]
