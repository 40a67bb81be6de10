"""Destinations made, changed, deleted and looked at while others use them."""

import pytest

from apps.destinations.selectors import find
from tests.concurrency.sessions import at_once, in_background, session, waiting_for_a_lock
from tests.destinations.world import DESTINATIONS, acknowledge, lag, make, make_topic, publish, pull, sql
from tests.factories import Api, api_key, unique
from tests.patience import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def key(db):
    find.forget_found()
    return api_key()


def statuses(answers):
    return sorted(answer.status_code for answer in answers)


def test_of_two_that_take_a_name_at_once_one_is_told_that_it_is_taken(key):
    topic, name = unique("fresh"), unique("twin")
    body = {"name": name, "type": "DURABLE_CONSUMER", "topic": topic}
    assert statuses(at_once(*[lambda: Api(key).post(DESTINATIONS, body)] * 4)) == [201, 409, 409, 409]
    assert sql("SELECT count(*) FROM consumer") == [(1,)]


def test_a_destination_and_the_end_of_its_topic_never_meet_half_way(key):
    for _ in range(5):
        topic = make_topic()
        body = {"name": unique("d"), "type": "DURABLE_CONSUMER", "topic": topic}
        made, ended = at_once(
            lambda body=body: Api(key).post(DESTINATIONS, body), lambda topic=topic: Api(key).delete(f"/v1/topics/{topic}")
        )
        assert (made.status_code, ended.status_code) in {(201, 409), (404, 204), (201, 204), (503, 204)}
        orphans = "SELECT count(*) FROM consumer LEFT JOIN topic ON topic.id = topic_id WHERE topic.id IS NULL"
        assert sql(orphans) == [(0,)]


def test_deleting_while_workers_pull_and_acknowledge_breaks_nothing(key):
    api = Api(key)
    thing = make(api)
    publish(api, thing["topic"], 200)

    def work(worker):
        seen = set()
        for _ in range(20):
            answer = pull(Api(key), thing["name"], limit=2, workerId=worker)
            seen.add(answer.status_code)
            if answer.status_code == 200:
                seen.add(acknowledge(Api(key), thing["name"], answer.json()).status_code)
        return seen

    *seen, deleted = at_once(
        lambda: work("a"), lambda: work("b"), lambda: Api(key).delete(f"{DESTINATIONS}/{thing['name']}")
    )
    assert deleted.status_code == 204
    assert set().union(*seen) <= {200, 404}
    for table in ("consumer", "cursor", "lease"):
        assert sql(f"SELECT count(*) FROM {table}") == [(0,)]


def test_a_pause_that_is_answered_holds_also_against_the_pull_that_waited_for_it(key):
    api = Api(key)
    thing = make(api)
    publish(api, thing["topic"], 2)
    consumer = sql("SELECT topic_id, consumer_id FROM destination WHERE name = %s", thing["name"])[0]
    with session() as other:
        other.execute("UPDATE consumer SET paused_at = statement_timestamp() WHERE topic_id = %s AND id = %s", consumer)
        with in_background(lambda: pull(Api(key), thing["name"])) as waiting:
            until(waiting_for_a_lock)
            other.commit()
            assert waiting.result().status_code == 409
    assert sql("SELECT count(*) FROM lease") == [(0,)]


def test_lag_seen_under_load_is_never_below_zero_and_never_above_what_there_is(key):
    api = Api(key)
    thing = make(api)

    def produce():
        for first in range(0, 300, 10):
            publish(Api(key), thing["topic"], 10, first=first)

    def consume():
        for _ in range(60):
            answer = pull(Api(key), thing["name"], limit=10)
            if answer.status_code == 200:
                acknowledge(Api(key), thing["name"], answer.json())

    def watch():
        return [(found["lagEvents"], found["lagSeconds"]) for found in (lag(Api(key), thing["name"]) for _ in range(60))]

    _, _, seen = at_once(produce, consume, watch)
    assert all(0 <= events <= 300 and seconds >= 0 for events, seconds in seen)
    while (answer := pull(api, thing["name"], limit=100)).status_code == 200:
        acknowledge(api, thing["name"], answer.json())
    assert lag(api, thing["name"])["lagEvents"] == 0
