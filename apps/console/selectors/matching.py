"""What a bulk operation is about: everything that matches a filter, as far as the asker reaches, up to a bound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.text import smart_split, unescape_string_literal

from apps.console.models import Objects
from apps.destinations.models import Destination
from apps.destinations.selectors.cause import DISABLED, PAUSED, STATES
from apps.destinations.selectors.standing import standings
from apps.queues.models import Queue
from core import sql
from core.errors import InvalidField

MATCH_LETTERS = sql.statement(__file__, "match_letters")
MATCH_DEAD_EVENTS = sql.statement(__file__, "match_dead_events")
MATCH_DEAD_EVENTS_OF_ERROR = sql.statement(__file__, "match_dead_events_of_error")

MOST = 50_000
"""Items of one bulk operation; what is beyond is a second one's."""
COUNTED = 10_000
"""A preview counts up to here."""
HOMES = 1_000
"""Destinations or queues that one looks at."""
EVERY = ("0" * 16, "f" * 16)

VERBS = {
    Objects.DEAD_LETTERS: ("redrive", "discard"),
    Objects.QUEUE_DEAD_LETTERS: ("redrive", "discard"),
    Objects.DESTINATIONS: ("pause", "resume"),
    Objects.QUEUES: ("pause", "resume"),
}
AREAS = {
    Objects.DEAD_LETTERS: "events",
    Objects.QUEUE_DEAD_LETTERS: "queues",
    Objects.DESTINATIONS: "events",
    Objects.QUEUES: "queues",
}
Home = TypeVar("Home", Destination, Queue)
Reaches = Callable[[str], bool]
Item = tuple[UUID, UUID | None]
"""Uid of the destination or queue, and the dead letter in it."""


@dataclass(frozen=True)
class Wanted:
    """An empty field restricts nothing."""

    verb: str
    objects: Objects
    name: str = ""
    topic: str = ""
    type: str = ""
    state: str = ""
    fingerprint: str = ""
    search: str = ""
    """Words of which each stands in the name or in the topic's, as the list of destinations is searched."""

    @property
    def filter(self) -> dict[str, str]:
        given = {"name": self.name, "topic": self.topic, "type": self.type, "state": self.state}
        more = {"fingerprint": self.fingerprint, "search": self.search}
        return {key: value for key, value in {**given, **more}.items() if value}

    def check(self) -> None:
        """Raises InvalidField for what no such operation can be asked."""
        if self.verb not in VERBS[self.objects]:
            raise InvalidField(f"Must be one of {', '.join(VERBS[self.objects])} for {self.objects}.", field="verb")
        if self.state and self.state not in STATES:
            raise InvalidField(f"Must be one of {', '.join(STATES)}.", field="filter.state")
        takes = TAKES[self.objects]
        for field in self.filter:
            if field not in takes:
                raise InvalidField(f"Has no meaning for {self.objects}.", field=f"filter.{field}")


TAKES = {
    Objects.DEAD_LETTERS: ("name", "topic", "type", "fingerprint", "search"),
    Objects.QUEUE_DEAD_LETTERS: ("name", "fingerprint"),
    Objects.DESTINATIONS: ("name", "topic", "type", "state", "search"),
    Objects.QUEUES: ("name",),
}


def everything(name: str) -> bool:
    return True


def matching(wanted: Wanted, reaches: Reaches = everything, most: int = MOST) -> list[Item]:
    """At most `most` + 1, so that one more tells of more. Raises InvalidField."""
    wanted.check()
    if wanted.objects in (Objects.DEAD_LETTERS, Objects.DESTINATIONS):
        found = [row for row in _destinations(wanted) if reaches(row.name)]
        return _letters(found, wanted, most) if wanted.objects == Objects.DEAD_LETTERS else _changing(found, wanted)
    queues = [row for row in _queues(wanted) if reaches(row.name)]
    return (
        _dead_events(queues, wanted, most)
        if wanted.objects == Objects.QUEUE_DEAD_LETTERS
        else [(row.uid, None) for row in queues]
    )


def _destinations(wanted: Wanted) -> list[Destination]:
    exact = {"name": wanted.name, "topic__name": wanted.topic, "type": wanted.type}
    found = Destination.objects.filter(**_given(exact))
    for word in smart_split(wanted.search):
        text = unescape_string_literal(word) if word[0] in "\"'" and word[0] == word[-1] else word
        found = found.filter(Q(name__icontains=text) | Q(topic__name__icontains=text))
    return _bounded(found.order_by("topic_id", "consumer_id"))


def _queues(wanted: Wanted) -> list[Queue]:
    found = Queue.objects.filter(deleted_at=None, **_given({"name": wanted.name})).order_by("pk")
    if wanted.objects == Objects.QUEUES:
        found = found.filter(paused_at__isnull=wanted.verb == "pause")
    return _bounded(found)


def _bounded(found: QuerySet[Home]) -> list[Home]:
    rows = list(found[: HOMES + 1])
    if len(rows) > HOMES:
        raise InvalidField(f"More than {HOMES:,} match: narrow it, by topic or name.", field="filter")
    return rows


def _given(exact: dict[str, str]) -> dict[str, Any]:
    return {key: value for key, value in exact.items() if value}


def _changing(rows: Sequence[Destination], wanted: Wanted) -> list[Item]:
    """Those that are not as asked for already."""
    stopped = (PAUSED, DISABLED) if wanted.verb == "resume" else (PAUSED,)
    return [
        (each.destination.uid, None)
        for each in standings(rows)
        if (each.cause.state in stopped) == (wanted.verb == "resume") and wanted.state in ("", each.cause.state)
    ]


def _letters(rows: Sequence[Destination], wanted: Wanted, most: int) -> list[Item]:
    first, last = (wanted.fingerprint, wanted.fingerprint) if wanted.fingerprint else EVERY
    asked = {
        "homes": [row.uid for row in rows],
        "topics": [row.topic_id for row in rows],
        "consumers": [row.consumer_id for row in rows],
        "fingerprint": first,
        "last_fingerprint": last,
        "limit": most + 1,
    }
    return [(home, letter) for home, letter in sql.run((MATCH_LETTERS, asked))[0]]


def _dead_events(rows: Sequence[Queue], wanted: Wanted, most: int) -> list[Item]:
    asked = {
        "homes": [row.uid for row in rows],
        "queues": [row.pk for row in rows],
        "limit": most + 1,
    }
    if wanted.fingerprint:
        call = (MATCH_DEAD_EVENTS_OF_ERROR, {**asked, "fingerprint": wanted.fingerprint})
    else:
        call = (MATCH_DEAD_EVENTS, asked)
    return [(home, event) for home, event in sql.run(call)[0]]
