"""Forwarders are killed, stopped and many; what they push arrives as it must."""

import json
import os
import signal
import time
from ipaddress import ip_network

import pytest
from django.db import connection

from apps.queues.operations import queues
from core import notices
from tests.concurrency.forwarding import Forward
from tests.destinations.endpoint import Endpoint
from tests.destinations.world import cause, make, publish, sql
from tests.factories import Api, api_key, unique
from tests.patience import until

pytestmark = pytest.mark.django_db(transaction=True)

SCALE = float(os.environ.get("TOWPATH_TEST_SCALE", "1"))
IS_FULL = SCALE >= 10


@pytest.fixture
def api(transactional_db):
    return Api(api_key())


@pytest.fixture
def forwarders():
    running = []
    yield lambda: running.append(Forward()) or running[-1]
    for each in running:
        each.end(signal.SIGKILL)
        each.log.close()


def fill(thing, count, partitions):
    """Events as rows, the fast way: numbered within their partition."""
    sql(
        """
        INSERT INTO event
            (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source, body)
        SELECT topic.id, partition, 1, at, statement_timestamp(), at * 100, 'k', 'id-' || at, 't', '/s',
            '{"specversion":"1.0","id":"' || partition || '-' || at || '","source":"/s","type":"t","data":' || at || '}'
        FROM topic, generate_series(0, %s - 1) AS partition, generate_series(0, %s - 1) AS at WHERE topic.name = %s
        """,
        partitions, count // partitions, thing["topic"],
    )  # fmt: skip


def arrived(queue):
    return sql("SELECT count(*) FROM queue_event WHERE queue_id = %s", queue.id)[0][0]


def published(channel):
    found = sql("SELECT last_sequence FROM channel WHERE name = %s", channel)
    return found[0][0] if found else 0


def kill_while(arrived, count, running):
    """One after the other is killed and started again until all has arrived; returns how often.

    In full: each second the one that has been at work longest. Else each time after another part has arrived, which does
    not depend on the machine.
    """
    kills, enough, end = 0, count // 4, time.monotonic() + (1_800 if IS_FULL else 300)
    while arrived() < count:
        assert time.monotonic() < end, f"{arrived()} of {count} after {kills} kills"
        if IS_FULL:
            time.sleep(1)
            victim = next((each for each in sorted(running, key=lambda each: each.started) if each.is_at_work()), None)
        else:
            until(lambda least=enough: arrived() >= least, 120)
            victim = running[kills % len(running)]
        if victim:
            victim.end(signal.SIGKILL)
            victim.start()
            kills, enough = kills + 1, min(count, arrived() + count // 4)
    return kills


def payloads(queue):
    return [payload for (payload,) in sql("SELECT payload FROM queue_event WHERE queue_id = %s ORDER BY n", queue.id)]


@pytest.mark.timeout(2_000 if IS_FULL else 400)
def test_forwarders_killed_all_the_time_bring_each_event_to_queue_and_channel_exactly_once_in_order(api, forwarders):
    count, partitions = 50_000 if IS_FULL else int(1_600 * SCALE), 4
    queue, channel = queues.create(None, unique("queue")), f"job:{unique('x')}"
    topic = api.post("/v1/topics", {"name": unique("topic"), "partitions": partitions}).json()["name"]
    things = [
        make(api, topic=topic, type="QUEUE", queue={"queue": queue.name}, window=50 if IS_FULL else 20),
        make(api, topic=topic, type="CHANNEL", channel={"channel": channel}, window=50 if IS_FULL else 20),
    ]
    fill(things[0], count, partitions)
    running = [forwarders() for _ in range(4 if IS_FULL else 2)]
    assert kill_while(lambda: min(arrived(queue), published(channel)), count, running) > 2
    rows = [json.loads(payload) for payload in payloads(queue)]
    told = sql(
        "SELECT event.id, data FROM channel_event AS event JOIN channel ON channel.id = channel_id"
        " WHERE name = %s ORDER BY sequence",
        channel,
    )
    assert len(rows) == len(told) == count
    for partition in range(partitions):
        expected = list(range(count // partitions))
        assert [row["data"] for row in rows if row["id"].startswith(f"{partition}-")] == expected
        assert [int(data) for key, data in told if f"/{partition:03d}." in key] == expected
    until(lambda: {cause(api, thing["name"]) for thing in things} == {"caught_up"})


def test_a_hop_waits_for_no_poll_and_sigterm_ends_it_cleanly(api, forwarders):
    queue = queues.create(None, unique("queue"))
    thing = make(api, type="QUEUE", queue={"queue": queue.name})
    forwarder = forwarders()
    publish(api, thing["topic"], 1)
    until(lambda: arrived(queue) == 1)
    hops = []
    for number in range(1, 6):
        began = time.monotonic()
        publish(api, thing["topic"], 1, first=number)
        until(lambda wanted=number + 1: arrived(queue) == wanted)
        hops.append(time.monotonic() - began)
    # Milliseconds on a machine that is not busy. Without the notice each would wait for the poll, ten seconds.
    assert sorted(hops)[2] < 6
    assert forwarder.end() == 0
    assert sql("SELECT worker FROM worker_seen") == [("forwarder",)]
    assert "Traceback" not in forwarder.said()


def test_it_works_for_a_destination_made_later_and_after_its_connections_were_cut(api, forwarders):
    forwarder = forwarders()
    queue = queues.create(None, unique("queue"))
    thing = make(api, type="QUEUE", queue={"queue": queue.name})
    publish(api, thing["topic"], 1)
    until(lambda: arrived(queue) == 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'towpath%'"
        )
    publish(api, thing["topic"], 1, first=1)
    notices.flush()
    until(lambda: arrived(queue) == 2)
    assert forwarder.said().count("\n") < 200


def test_one_that_is_held_does_not_hold_up_the_others(api, forwarders):
    queue = queues.create(None, unique("queue"))
    held = [make(api, type="QUEUE", queue={"queue": unique("missing")}) for _ in range(10)]
    free = make(api, type="QUEUE", queue={"queue": queue.name})
    for thing in [*held, free]:
        publish(api, thing["topic"], 1)
    forwarders()
    until(lambda: arrived(queue) == 1)
    until(lambda: {cause(api, thing["name"]) for thing in held} == {"target_missing"})


def test_killed_forwarders_reach_a_webhook_at_least_once_with_the_same_identity(api, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    count = int(200 * SCALE)
    with Endpoint() as endpoint:
        thing = make(api, type="WEBHOOK", webhook={"url": endpoint.url("204"), "timeoutSeconds": 30})
        fill(thing, count, 1)
        forwarder = Forward(TOWPATH_WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8")
        for kill in range(3):
            until(lambda least=count * (kill + 1) // 5: len(endpoint.requests) >= least)
            forwarder.end(signal.SIGKILL)
            until(lambda: not forwarder.is_at_work())  # nor has it left anything at work in the database
            # As if the leases of the dead had run out; the wait for it is what tests of leases measure.
            sql("UPDATE lease SET visible_at = statement_timestamp()")
            forwarder.start()
        until(lambda: cause(api, thing["name"]) == "caught_up")
        assert forwarder.end() == 0
        forwarder.log.close()
    identities = {request.headers["webhook-id"]: json.loads(request.body)["id"] for request in endpoint.requests}
    assert sorted(identities.values()) == sorted(f"0-{number}" for number in range(count))
    assert {request.headers["webhook-id"][-4:] for request in endpoint.requests} == {f"{n:04d}" for n in range(count)}
