"""What is pushed may have left the hot window: it arrives all the same, in order, and dies with its body."""

import pytest
from django.db import connection

from apps.queues.operations import queues
from apps.topics.selectors import cold
from tests.destinations.test_to_queue import dead, events_in, forward, to_queue
from tests.destinations.world import lag
from tests.factories import unique
from tests.topics.cold import publish, sweep, topic_of, use_store


@pytest.fixture
def topic(api, tmp_path, settings):
    """40 events, the first 36 of them cold."""
    settings.TOWPATH = dict(settings.TOWPATH)
    use_store(tmp_path / "cold")
    made = topic_of(api, hot_records=4)
    publish(api, made, 40)
    assert sweep(made) == 36
    return made


def test_cold_events_reach_a_queue_in_order_and_on_across_the_seam(api, topic):
    queue = queues.create(None, unique("queue"))
    thing = to_queue(api, queue.name, topic=topic.name)
    forward(thing)
    assert [payload["data"]["n"] for payload, _, _ in events_in(queue)] == list(range(40))
    assert lag(api, thing["name"])["lagEvents"] == 0


def test_a_cold_event_that_does_not_fit_is_parked_with_its_body(api, topic):
    queue = queues.create(None, unique("queue"))
    thing = to_queue(api, {"queue": queue.name, "groupKey": "x" * 150 + "{type}" * 20}, topic=topic.name, maxDeliveries=3)
    forward(thing)
    assert events_in(queue) == []
    letters = dead(api, thing)
    assert [letter["event"]["data"]["n"] for letter in letters] == list(range(40))


def test_the_store_is_never_read_while_the_consumer_is_locked(api, topic, monkeypatch):
    queue = queues.create(None, unique("queue"))
    thing = to_queue(api, queue.name, topic=topic.name)
    outside, depths = len(connection.savepoint_ids), []
    opened = cold.opened
    monkeypatch.setattr(cold, "opened", lambda wanted: depths.append(len(connection.savepoint_ids)) or opened(wanted))
    forward(thing)
    assert set(depths) == {outside}
