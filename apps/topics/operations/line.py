"""Group commit: those of this process who append to one topic stand in line, and one writes for all that wait.

The leader takes everybody in line, writes them in one transaction, and hands the lead to the next; the others hold a thread
but no connection. What cannot be written together is tried again group by group by its own thread, so that one member's
trouble, or one partition locked by somebody, is nobody else's.
"""

import threading
from collections import deque
from collections.abc import Sequence

import psycopg
from django.db import DataError, connection

from apps.topics.errors import QuotaExceeded
from apps.topics.operations.held import is_held, notice
from apps.topics.operations.outcomes import Outcome, Refused
from apps.topics.operations.slots import Groups
from apps.topics.operations.write import write
from apps.topics.selectors.resolve import TopicRef
from core import errors, sql

# More in one transaction gains nothing and makes everybody wait for the longest.
MAX_TOGETHER_EVENTS = 2_000
MAX_TOGETHER_BYTES = 8 * 1024 * 1024
# Several partitions together wait for no lock for long: somebody's open transaction may hold one, the others are free.
PATIENCE_TOGETHER = "100ms"


class Member:
    """One append that waits: for its outcomes, or for its turn to lead."""

    __slots__ = ("events", "groups", "is_taken", "outcomes", "size", "turn")

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.events = sum(map(len, groups.values()))
        self.size = sum(item[4] for items in groups.values() for item in items)
        self.outcomes: dict[int, Outcome] | None = None
        self.is_taken = False
        # A lock of C that is taken from the start: a Semaphore is Python, and cost a tenth of a single publish.
        self.turn = threading.Lock()
        self.turn.acquire()

    def refuse(self, error: errors.DomainError) -> None:
        self.outcomes = dict.fromkeys(self.groups, Refused(error))


class Line:
    """Those of this process who want to append to one topic."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.waiting: deque[Member] = deque()
        self._is_led = False

    def join(self, member: Member) -> bool:
        """Whether the newcomer leads at once."""
        with self._lock:
            self.waiting.append(member)
            leads, self._is_led = not self._is_led, True
            return leads

    def take(self) -> list[Member]:
        """The first in line, and who else fits."""
        with self._lock:
            taken = [self.waiting.popleft()]
            events, size = taken[0].events, taken[0].size
            while self.waiting:
                events, size = events + self.waiting[0].events, size + self.waiting[0].size
                if events > MAX_TOGETHER_EVENTS or size > MAX_TOGETHER_BYTES:
                    break
                taken.append(self.waiting.popleft())
            for member in taken:
                member.is_taken = True
            return taken

    def hand_on(self) -> None:
        with self._lock:
            self._is_led = bool(self.waiting)
            if self.waiting:
                self.waiting[0].turn.release()


_lines: dict[int, Line] = {}


def backlog(topic_id: int) -> int:
    """Appends that wait in this process."""
    line = _lines.get(topic_id)
    return len(line.waiting) if line else 0


def stand_in_line(topic: TopicRef, groups: Groups) -> dict[int, Outcome]:
    """The outcome of each group. Raises NotFound for a deleted topic, and Unavailable when there is no database."""
    if connection.in_atomic_block:
        return _within(topic, groups)
    held = {partition: items for partition, items in groups.items() if is_held(topic.id, partition)}
    free = {partition: items for partition, items in groups.items() if partition not in held}
    outcomes = _in_company(topic, free) if free else {}
    return outcomes | _alone(topic, held) if held else outcomes


def _within(topic: TopicRef, groups: Groups) -> dict[int, Outcome]:
    """In somebody's transaction: database errors are theirs, a quota refuses its group only."""
    try:
        return dict(write(topic, [groups])[0])
    except QuotaExceeded as error:
        if len(groups) == 1:
            return dict.fromkeys(groups, Refused(error))
    return {number: _within(topic, {number: items})[number] for number, items in groups.items()}


def _in_company(topic: TopicRef, groups: Groups) -> dict[int, Outcome]:
    member = Member(groups)
    line = _lines.setdefault(topic.id, Line())
    if not line.join(member):
        member.turn.acquire()
    if not member.is_taken:
        _lead(topic, line)
    return member.outcomes or _alone(topic, groups)


def _lead(topic: TopicRef, line: Line) -> None:
    """Writes for everybody in line, the caller among them; members left without outcomes are to try alone."""
    members = line.take()
    try:
        _write_together(topic, members, len(line.waiting))
    finally:
        line.hand_on()
        for member in members[1:]:
            member.turn.release()


def _write_together(topic: TopicRef, members: Sequence[Member], waiting: int) -> None:
    try:
        sql.ensure_alive()
        written = write(topic, [member.groups for member in members], PATIENCE_TOGETHER, waiting)
    except errors.DomainError:
        return  # a deleted topic, or a quota that one of them is over: each tries alone
    except Exception as error:
        _settle_failure(topic, members, as_refusal(error))
        return
    for member, outcomes in zip(members, written, strict=True):
        member.outcomes = dict(outcomes)


def _settle_failure(topic: TopicRef, members: Sequence[Member], refusal: errors.DomainError) -> None:
    """What is uncertain is so for all; after anything definite each tries alone."""
    if isinstance(refusal, errors.Uncertain):
        for member in members:
            member.refuse(refusal)
    elif isinstance(refusal, errors.Busy):
        notice(topic.id, {partition for member in members for partition in member.groups})


def _alone(topic: TopicRef, groups: Groups) -> dict[int, Outcome]:
    sql.ensure_alive()
    return {partition: _one(topic, {partition: items}, partition) for partition, items in groups.items()}


def _one(topic: TopicRef, group: Groups, partition: int) -> Outcome:
    try:
        return write(topic, [group])[0][partition]
    except errors.NotFound:
        raise
    except errors.DomainError as error:
        return Refused(error)
    except Exception as error:
        return Refused(as_refusal(error))


_BUSY = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)


def as_refusal(error: Exception) -> errors.DomainError:
    """Definite if the database said so; uncertain if the connection was lost before it said anything."""
    cause = error.__cause__
    if isinstance(error, DataError):
        return errors.InvalidField("A value cannot be stored.")
    if isinstance(cause, _BUSY):
        return errors.Busy()
    if not isinstance(cause, psycopg.Error):
        raise error
    state = cause.sqlstate or "08"
    return errors.Uncertain() if state.startswith(("08", "57P")) else errors.Unavailable()
