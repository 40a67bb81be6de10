"""Leases and dead letters as CSV files, further than their pages show at once. Payloads are in none of them."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse

from apps.console.pages import dead_letters, leases
from apps.console.selectors.dead_letters import BEFORE_ALL, Group, of_destinations
from apps.console.selectors.leases import leases as leases_after
from core.admin import demand
from core.csv_file import MOST, as_file
from core.masking import shown_text
from core.pages import encode_cursor
from core.sequence import sequence

AT_ONCE = 2_000
LEASES = ("kind", "of", "worker", "since", "state", "ends", "attempt", "events", "what", "id", "error")
GROUPS = ("kind", "of", "error", "number", "isMore", "firstSeen", "lastSeen", "fingerprint")
LETTERS = ("event", "id", "firstHandedOut", "died", "deliveries", "deaths", "error")


def leases_file(request: HttpRequest) -> StreamingHttpResponse:
    demand(request, "console.view_console")
    return as_file("leases", LEASES, _leases(*leases.asked(request)))


def _leases(worker: str, kind: str) -> Iterator[tuple[Any, ...]]:
    cursor: str | None = ""
    while cursor is not None:
        found = leases_after(cursor, AT_ONCE, worker or None, kind)
        for held in found:
            yield (
                held.kind, held.home, held.worker, held.since, held.state, held.visible_at, held.attempt, held.events,
                held.what, held.id, shown_text(held.error or ""),
            )  # fmt: skip
        cursor = encode_cursor(found[-1].position) if len(found) == AT_ONCE else None


def groups_file(request: HttpRequest) -> StreamingHttpResponse:
    demand(request, "console.view_console")
    return as_file("dead-letters", GROUPS, map(_group, _groups()))


def _groups() -> Iterator[Group]:
    after = BEFORE_ALL
    while found := of_destinations(after, AT_ONCE):
        yield from found
        after = found[-1].position
    yield from dead_letters.groups_of_queues()


def _group(group: Group) -> tuple[Any, ...]:
    return (
        group.kind, group.home, shown_text(group.error), group.number, group.is_more, group.first_at, group.last_at,
        group.fingerprint,
    )  # fmt: skip


def letters_file(request: HttpRequest, number: int, fingerprint: str) -> StreamingHttpResponse:
    """Of one error of one destination, the latest first."""
    demand(request, "console.view_console")
    found = dead_letters.letters_after(dead_letters.destination(number), fingerprint, "").defer("body")[:MOST]
    rows = (
        (
            sequence(each.partition, each.offset), each.id, each.first_at, each.last_at, each.handouts, each.deaths,
            shown_text(each.error),
        )
        for each in found.iterator(chunk_size=AT_ONCE)
    )  # fmt: skip
    return as_file("dead-letters-of-error", LETTERS, rows)
