"""A log written row by row and consumers on it, for tests of what reads a log: no door, no dedup, any size and date."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from apps.cursors import operations as cursors
from apps.cursors.models import Kind
from apps.leases import selectors
from apps.leases.operations.acknowledge import Failure, Outcome, acknowledge
from apps.leases.operations.pull import Batch, Lease, Nothing, lease_next, pull
from apps.topics.models import Topic
from core.ids import uuid7
from tests.factories import unique

APPEND = """
    INSERT INTO event (topic_id, partition, kind, "offset", appended_at, total_bytes, partition_key, key, type, source,
                       subject, body)
    SELECT %(topic)s, %(partition)s, 1, at, statement_timestamp() - %(age)s * interval '1 second',
           before + (at - %(head)s + 1) * %(size)s, 'k', 'id-' || at, %(type)s, %(source)s, %(subject)s,
           '{"id":"id-' || at || '"}'
    FROM generate_series(%(head)s, %(head)s + %(count)s - 1) AS at,
        (SELECT coalesce(max(total_bytes), 0) AS before FROM event
         WHERE topic_id = %(topic)s AND partition = %(partition)s) AS written
"""


def sql(text: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall() if cursor.description else []


@dataclass(frozen=True)
class Log:
    topic: Topic

    @classmethod
    def make(cls, partitions: int = 1) -> "Log":
        topic = Topic.objects.create(name=f"log-{uuid7()}", partitions=partitions)
        sql("INSERT INTO topic_partition (topic_id, partition) SELECT %s, generate_series(0, %s)", topic.id, partitions - 1)
        return cls(topic)

    def head(self, partition: int = 0) -> int:
        place = self.topic.id, partition
        return sql('SELECT coalesce(max("offset") + 1, 0) FROM event WHERE topic_id = %s AND partition = %s', *place)[0][0]

    def append(self, count: int = 1, *, partition: int = 0, kind: str = "t", subject: str | None = None, size: int = 100,
               source: str = "/s", age: float = 0) -> None:  # fmt: skip
        """`size` is what an event counts in bytes; its body is short whatever is said."""
        wanted = {"topic": self.topic.id, "partition": partition, "head": self.head(partition), "count": count, "size": size}
        with connection.cursor() as cursor:
            cursor.execute(APPEND, {**wanted, "type": kind, "source": source, "subject": subject, "age": age})

    def consumer(self, *, start: Any = "oldest", types: list[str] | None = None, subject: str | None = None,
                 source: str | None = None, **limits: Any) -> "Reader":  # fmt: skip
        chosen = cursors.Filter(types, subject, source)
        number = cursors.create_consumer(
            self.topic.id, Kind.DESTINATION, unique("reader"), start=start, limits=cursors.Limits(**limits), chosen=chosen
        )
        return Reader(self.topic.id, number)


@dataclass(frozen=True)
class Reader:
    """A consumer as its workers see it."""

    topic_id: int
    number: int

    def pull(self, worker: str = "w1", *, limit: int = 20, visibility: int = 60, cold: Any = None) -> Lease | Nothing:
        return lease_next(self.topic_id, self.number, limit=limit, visibility=visibility, worker=worker, cold=cold)

    def batch(self, worker: str = "w1", **how: Any) -> Batch | Nothing:
        return pull(self.topic_id, self.number, worker=worker, **how)

    def ok(self, lease: Lease) -> Outcome:
        return acknowledge(self.topic_id, self.number, lease.id, lease.generation)

    def fail(self, lease: Lease, **how: Any) -> Outcome:
        return acknowledge(self.topic_id, self.number, lease.id, lease.generation, Failure(**how))

    def run_out(self, lease_id: UUID, seconds: float = 1) -> None:
        """As if the lease had ended so many seconds ago."""
        sql(
            "UPDATE lease SET visible_at = statement_timestamp() - %s * interval '1 second'"
            " WHERE topic_id = %s AND consumer_id = %s AND id = %s",
            seconds, self.topic_id, self.number, lease_id,
        )  # fmt: skip

    def unsettled(self, partition: int = 0) -> int:
        return selectors.first_unsettled(self.topic_id, self.number)[partition]


def seen(reader: Reader, worker: str = "w1", **how: Any) -> list[int] | None:
    """The offsets of the next lease, or None."""
    lease = reader.pull(worker, **how)
    return None if isinstance(lease, Nothing) else list(lease.offsets)
