"""Work that at most one process does at a time, whatever the number of beats, workers and servers."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def alone(work: str) -> Iterator[bool]:
    """A transaction that yields whether it is the only one at `work`; who gets False skips.

    The lock belongs to the transaction: it lives exactly as long as the work, on the same connection, also through a
    pooler, and nothing has to give it back.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [work])
        yield cursor.fetchone()[0]
