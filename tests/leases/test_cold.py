"""Destinations read on into cold storage: new work, what is out already, and times."""

import pytest

from apps.cursors.selectors import positions
from apps.leases.operations.pull import Nothing
from apps.topics.cold.cache import forget_opened
from core.errors import Unavailable
from tests.logs import Log, Reader, sql
from tests.topics.cold import hot, objects, publish, sweep, topic_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder")]


@pytest.fixture
def world(api):
    """40 events, the first 36 of them cold, and what every reader got while all were hot."""
    topic = topic_of(api, hot_records=4)
    publish(api, topic, 40)
    before = Log(topic).consumer().batch(limit=100).events
    assert sweep(topic) == 36 and hot(topic) == [36, 37, 38, 39]
    return topic, before


def drain(reader: Reader, limit: int) -> list[str]:
    events = []
    while not isinstance(batch := reader.batch(limit=limit), Nothing):
        events += batch.events
        reader.ok(batch.lease)
    return events


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_the_same_events_are_delivered_from_cold_storage_and_on_across_the_seam(world, limit):
    topic, before = world
    assert drain(Log(topic).consumer(), limit) == before


def test_a_filter_is_applied_to_cold_events_too(world):
    topic, before = world
    reader = Log(topic).consumer(types=["t.1"])
    assert drain(reader, 5) == before[1::3]
    assert reader.unsettled() == 40


def test_a_lease_taken_while_hot_is_redelivered_from_cold_storage_whole_and_picked(api):
    topic = topic_of(api, hot_records=2)
    publish(api, topic, 30)
    whole, picked = Log(topic).consumer(), Log(topic).consumer(types=["t.2"])
    batches = [whole.batch(limit=30), picked.batch(limit=30)]
    assert sweep(topic) == 28
    for reader, batch in zip((whole, picked), batches, strict=True):
        assert reader.batch().events == batch.events  # its own again
        reader.run_out(batch.lease.id)
        assert reader.batch("other", limit=30).events == batch.events


def test_a_page_that_cannot_be_read_moves_no_position(world, folder):
    topic, before = world
    reader = Log(topic).consumer()
    (path,) = objects(folder / "segments")
    content = path.read_bytes()
    path.unlink()
    forget_opened()
    with pytest.raises(Unavailable):
        reader.batch()
    path.write_bytes(content)
    assert drain(reader, 100) == before


def test_a_time_is_found_on_both_sides_of_the_seam(api):
    topic = topic_of(api, hot_records=4)
    publish(api, topic, 10)
    sql(
        "UPDATE event SET appended_at = '2026-01-01T00:00:00Z'::timestamptz + \"offset\" * interval '1 minute'"
        " WHERE topic_id = %s",
        topic.id,
    )
    (moment,) = sql("SELECT appended_at FROM event WHERE topic_id = %s ORDER BY 1", topic.id)[:1]
    sweep(topic)
    for offset in range(11):
        time = moment[0] + (moment[0].replace(minute=1) - moment[0]) * offset
        assert positions(topic.id, time, "to") == {0: offset}
