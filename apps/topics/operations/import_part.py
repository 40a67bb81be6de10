"""A part of a file into a topic: its events and how far the file is, in one transaction."""

import time
from collections.abc import Sequence

from django.db import DatabaseError, transaction
from django.db.models import F
from django.db.models.functions import Now

from apps.topics.errors import QuotaExceeded
from apps.topics.hashing import partition_for
from apps.topics.items import Item
from apps.topics.models import Import
from apps.topics.operations.append import is_over, oversize, refusal
from apps.topics.operations.line import as_refusal
from apps.topics.operations.write import write
from apps.topics.selectors.resolve import TopicRef
from core import sql
from core.errors import Busy, Conflict, DomainError

PATIENCE = 60
PAUSE = 1.0


def begin(topic: TopicRef, sha256: str, again: bool = False) -> Import:
    """The row of this file in this topic; with `again` from its beginning, however far it was."""
    row, _ = Import.objects.get_or_create(topic_id=topic.id, sha256=sha256)
    if again:
        Import.objects.filter(pk=row.pk).update(lines=0, events=0, began_at=Now(), progressed_at=Now(), finished_at=None)
        row.refresh_from_db()
    return row


def import_part(topic: TopicRef, row: Import, items: Sequence[Item], lines: int) -> None:
    """Appends the events of the file up to that line, in their order, and moves the row; or does neither.

    What is refused for now (a quota, a lock) is tried again for a minute. Raises TooLarge, QuotaExceeded, Busy,
    Conflict, NotFound, and Uncertain when the database went away: calling it again with a fresh row is exact.
    """
    groups: dict[int, list[Item]] = {}
    for item in items:
        groups.setdefault(partition_for(item[0], topic.partitions), []).append(item)
    for group in groups.values():
        if is_over(group):
            raise oversize().error
    for attempt in range(PATIENCE):
        if attempt:
            time.sleep(PAUSE)
        try:
            _append(topic, row, groups, lines)
        except (QuotaExceeded, Busy) as error:
            last = error
        else:
            row.lines, row.events = lines, row.events + len(items)
            return
    raise last


def _append(topic: TopicRef, row: Import, groups: dict[int, list[Item]], lines: int) -> None:
    if refused := next((error for number in groups if (error := refusal(topic, number))), None):
        raise refused
    sql.ensure_alive()
    try:
        with transaction.atomic():
            moved = {"lines": lines, "events": F("events") + sum(map(len, groups.values())), "progressed_at": Now()}
            if not Import.objects.filter(pk=row.pk, lines=row.lines, finished_at=None).update(**moved):
                raise Conflict("Another process imports this file into this topic, or has just finished.")
            write(topic, [groups])
    except DatabaseError as error:
        refusal_of_database: DomainError = as_refusal(error)
        raise refusal_of_database from error


def finish(row: Import) -> None:
    Import.objects.filter(pk=row.pk, lines=row.lines).update(finished_at=Now(), progressed_at=Now())
