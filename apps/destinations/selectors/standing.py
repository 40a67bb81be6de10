"""Destinations with their state and cause, a page at a time: three queries however many there are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.destinations.models import Destination
from apps.destinations.selectors.cause import Cause, cause_of
from apps.destinations.selectors.shown import consumers_of, settings_of
from apps.destinations.selectors.status import Status, statuses
from core.clock import rfc3339
from core.errors import NotFound


@dataclass(frozen=True)
class Standing:
    destination: Destination
    status: Status
    cause: Cause


def standings(destinations: Iterable[Destination]) -> list[Standing]:
    """In the order given; one that was deleted meanwhile is left out."""
    rows = list(destinations)
    found = statuses((row.topic_id, row.consumer_id) for row in rows)
    known = [(row, found[row.topic_id, row.consumer_id]) for row in rows if (row.topic_id, row.consumer_id) in found]
    return [Standing(row, status, cause_of(status)) for row, status in known]


def standing(destination: Destination) -> Standing:
    """Raises NotFound when it was deleted meanwhile."""
    found = standings([destination])
    if not found:
        raise NotFound()
    return found[0]


def shown(destinations: Sequence[Destination]) -> list[dict[str, Any]]:
    """As the API shows them."""
    consumers = consumers_of(destinations)
    return [
        {
            **settings_of(found.destination, consumers[found.status.topic_id, found.status.consumer_id]),
            "state": found.cause.state,
            **_pause(found.status),
            "cause": {
                "code": found.cause.code,
                "text": found.cause.text,
                "since": found.cause.since and rfc3339(found.cause.since),
            },
        }
        for found in standings(destinations)
        if (found.status.topic_id, found.status.consumer_id) in consumers
    ]


def _pause(status: Status) -> dict[str, Any]:
    """One that has ended by itself is none."""
    if not status.paused:
        return dict.fromkeys(("pausedAt", "pauseReason", "resumeAt"))
    return {
        "pausedAt": status.paused_at and rfc3339(status.paused_at),
        "pauseReason": status.pause_reason,
        "resumeAt": status.resume_at and rfc3339(status.resume_at),
    }


def shown_one(destination: Destination) -> dict[str, Any]:
    """Raises NotFound when it was deleted meanwhile."""
    found = shown([destination])
    if not found:
        raise NotFound()
    return found[0]


def in_state(rows: QuerySet[Destination], state: str) -> tuple[QuerySet[Destination], list[Standing]]:
    """Those in it, and where they stand. State is derived from leases and lag, so all of the rows are looked at: meant for
    hundreds, not for millions.
    """
    found = [each for each in standings(rows) if each.cause.state == state]
    return rows.filter(pk__in=[each.destination.pk for each in found]), found
