"""Brings the database into the states that pages have to show, row by row: some of them take days to come about."""

import json
from datetime import timedelta
from uuid import UUID, uuid4

from django.db import connection
from django.utils import timezone

from apps.cursors.models import Consumer, Group
from apps.destinations.models import Destination
from apps.leases.operations.park import fingerprint
from apps.topics.models import Topic
from core.ids import uuid7
from core.sequence import sequence
from tests.factories import unique


def execute(statement: str, *values) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def topic(partitions: int = 2, name: str | None = None) -> Topic:
    made = Topic.objects.create(name=name or unique("orders"), partitions=partitions)
    for number in range(partitions):
        execute("INSERT INTO topic_partition (topic_id, partition) VALUES (%s, %s)", made.pk, number)
    return made


def event(
    home: Topic, offset: int, body: str | None = None, *, partition: int = 0, age: float = 0, kind: int = 1, **attributes
) -> None:
    given = {"key": f"e{offset}", "type": "order.made", "source": "/shop", "subject": f"order-{offset}", **attributes}
    text = body if body is not None else json.dumps({"id": given["key"], "data": {"n": offset}})
    execute(
        'INSERT INTO event (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source,'
        " subject, body) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        home.pk, partition, kind, offset, timezone.now() - timedelta(seconds=age), (offset + 1) * 100,
        given.get("partition_key", "k"), given["key"], given["type"], given["source"], given["subject"], text,
    )  # fmt: skip


def events(home: Topic, number: int, *, partition: int = 0, age: float = 0) -> None:
    execute(
        'INSERT INTO event (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source,'
        " subject, body) SELECT %s, %s, 1, n, statement_timestamp() - %s * interval '1 second', (n + 1) * 100, 'k',"
        " 'e' || n, 'order.made', '/shop', 'order-' || n, '{\"data\":' || n || '}' FROM generate_series(0, %s) AS n",
        home.pk, partition, age, number - 1,
    )  # fmt: skip


def lease(
    consumer, partition: int, first: int, number: int, *, worker: str = "worker-1", attempt: int = 1, age: float = 0,
    ends_in: float = 60, state: str = "leased", error: str | None = None,
) -> UUID:  # fmt: skip
    """A lease over `number` offsets of a consumer (anything with topic_id and consumer_id), `age` seconds old."""
    made, now = uuid4(), timezone.now()
    execute(
        "INSERT INTO lease (topic_id, consumer_id, id, partition, first_offset, next_offset, events, generation, attempt,"
        " handouts, leased_at, handed_at, visible_at, state, worker, error)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        consumer.topic_id, consumer.consumer_id, made, partition, first, first + number, number, attempt - 1, attempt,
        attempt, now - timedelta(seconds=age), now - timedelta(seconds=age), now + timedelta(seconds=ends_in), state, worker,
        error,
    )  # fmt: skip
    return made


def sample(consumer, age: float, lag: int, settled: int, head: int, seconds: float | None = None) -> None:
    execute(
        "INSERT INTO lag_sample (topic_id, consumer_id, at, lag_events, lag_seconds, in_flight, waiting, head, settled)"
        " VALUES (%s, %s, %s, %s, %s, 0, 0, %s, %s)",
        consumer.topic_id, consumer.consumer_id, timezone.now() - timedelta(seconds=age), lag, seconds, head, settled,
    )  # fmt: skip


def destination(home: Topic, name: str, **settings) -> Destination:
    """At the oldest event of its topic."""
    made = Consumer(topic_id=home.pk, kind="destination", name=name, **settings)
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('consumer', 'id'))")
        made.consumer_id = cursor.fetchone()[0]
    made.save(force_insert=True)
    for number in range(home.partitions):
        execute(
            "INSERT INTO cursor (topic_id, consumer_id, partition, position) VALUES (%s, %s, %s, 0)",
            home.pk, made.consumer_id, number,
        )  # fmt: skip
    return Destination.objects.create(uid=uuid7(), name=name, topic=home, consumer_id=made.consumer_id)


def seen(consumer, worker: str, age: float = 0) -> None:
    execute(
        "INSERT INTO worker_seen (topic_id, consumer_id, worker, seen_at)"
        " VALUES (%s, %s, %s, statement_timestamp() - %s * interval '1 second')",
        consumer.topic_id, consumer.consumer_id, worker, age,
    )  # fmt: skip


def many_leases(home: Topic, number: int) -> None:
    """Spread over the consumers of a topic, past their positions."""
    execute(
        "INSERT INTO lease (topic_id, consumer_id, id, partition, first_offset, next_offset, events, generation, attempt,"
        " handouts, leased_at, handed_at, visible_at, state, worker)"
        " SELECT c.topic_id, c.id, gen_random_uuid(), n %% 8, n, n + 1, 1, 0, 1, 1, statement_timestamp(),"
        " statement_timestamp(), statement_timestamp() + interval '1 minute', 'leased', 'w' || n"
        " FROM consumer AS c CROSS JOIN generate_series(0, %s - 1) AS n WHERE c.topic_id = %s",
        number // 100, home.pk,
    )  # fmt: skip


def queue_sample(queue, age: float, **figures) -> None:
    given = {"ready": 0, "scheduled": 0, "in_flight": 0, "blocked": 0, "dead": 0, "oldest_at": None, **figures}
    execute(
        "INSERT INTO queue_sample (queue_id, at, ready, scheduled, in_flight, blocked, dead, oldest_at, exact, settled)"
        " VALUES (%s, statement_timestamp() - %s * interval '1 second', %s, %s, %s, %s, %s, %s, true, 0)",
        queue.pk, age, *given.values(),
    )  # fmt: skip


def dead_letter(
    consumer, offset: int, error: str = "ValueError: no", *, partition: int = 0, age: float = 60, body: str | None = None
) -> UUID:
    made = uuid7()
    text = body or f'{{"specversion":"1.0","id":"e{offset}","source":"/shop","type":"order.made","data":{{"n":{offset}}}'
    execute(
        'INSERT INTO dead_letter (topic_id, consumer_id, id, partition, "offset", state, lease_id, handouts, deaths,'
        " fingerprint, error, first_at, last_at, body) VALUES (%s, %s, %s, %s, %s, 'dead', %s, 5, 1, %s, %s,"
        " statement_timestamp() - %s * interval '1 second', statement_timestamp(), %s)",
        consumer.topic_id, consumer.consumer_id, made, partition, offset, uuid7(), fingerprint(error), error, age,
        f'{text},"sequence":"{sequence(partition, offset)}"}}',
    )  # fmt: skip
    return made


def dead_event(queue, error: str | None = "no", payload: str = '{"n":1}', age: float = 60) -> UUID:
    made = uuid7()
    execute(
        "INSERT INTO queue_event (queue_id, id, state, priority, attempts, scheduled_at, enqueued_at, died_at,"
        " error, payload) VALUES (%s, %s, 'dead', 0, 10, statement_timestamp(), statement_timestamp(),"
        " statement_timestamp() - %s * interval '1 second', %s, %s)",
        queue.pk, made, age, error, payload,
    )  # fmt: skip
    return made


def group(home: Topic, name: str) -> Consumer:
    made = Consumer(topic_id=home.pk, kind="group", name=name)
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('consumer', 'id'))")
        made.consumer_id = cursor.fetchone()[0]
    made.save(force_insert=True)
    Group.objects.create(topic=home, name=name, consumer_id=made.consumer_id)
    for number in range(home.partitions):
        execute(
            "INSERT INTO cursor (topic_id, consumer_id, partition, position) VALUES (%s, %s, %s, 0)",
            home.pk, made.consumer_id, number,
        )  # fmt: skip
    return made


def assign(consumer: Consumer, partition: int, member: str, seconds: float = 60) -> None:
    execute(
        "UPDATE cursor SET holder = %s, fencing_token = 7, held_until = statement_timestamp() + %s * interval '1 second'"
        " WHERE topic_id = %s AND consumer_id = %s AND partition = %s",
        member, seconds, consumer.topic_id, consumer.consumer_id, partition,
    )  # fmt: skip


def claim(queue, worker: str, ends_in: float = 60) -> UUID:
    made = uuid7()
    execute(
        "INSERT INTO queue_event (queue_id, id, state, priority, attempts, scheduled_at, due_at, lease_token, leased_by,"
        " enqueued_at, payload) VALUES (%s, %s, 'leased', 0, 1, statement_timestamp(),"
        " statement_timestamp() + %s * interval '1 second', %s, %s, statement_timestamp(), '{}')",
        queue.pk, made, ends_in, uuid4(), worker,
    )  # fmt: skip
    return made


def attempt(consumer, **attributes) -> None:
    """A request to a webhook that was answered with an error."""
    given = {"kind": "events", "webhook_id": "w-1", "status": 500, "error": "answered 500", "answer": "", **attributes}
    execute(
        "INSERT INTO webhook_attempt (topic_id, consumer_id, at, id, kind, webhook_id, events, attempt, status, error,"
        " milliseconds, answer) VALUES (%s, %s, statement_timestamp(), %s, %s, %s, 10, 3, %s, %s, 120, %s)",
        consumer.topic_id, consumer.consumer_id, uuid7(), given["kind"], given["webhook_id"], given["status"],
        given["error"], given["answer"],
    )  # fmt: skip
