"""What a row or a page of the admin says about a destination: where it stands, why, and how it got there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.destinations.models import Destination
from apps.destinations.selectors.cause import Cause
from apps.destinations.selectors.outcomes import Outcomes, outcomes
from apps.destinations.selectors.standing import Standing, standings
from apps.destinations.selectors.status import Status
from apps.destinations.selectors.trend import Trend, trends
from core import charts, words
from core.csv_file import batches
from core.masking import shown_text

TREND_SECONDS, TREND_STEP = 3600, 120
TITLES = (
    "destination", "type", "topic", "state", "cause", "since", "lagEvents", "lagIsExact", "lagSeconds", "inFlight", "window",
    "waiting", "deadLetters", "lastAcknowledgement", "lastPull", "workers",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    status: Status
    cause: Cause
    trend: Trend
    outcomes: Outcomes

    @property
    def acknowledged_at(self) -> datetime | None:
        """The samples know of every acknowledgement, but only when the next one was taken, and giving up settles too."""
        settled_at = None if self.outcomes.dead else self.trend.settled_at
        return max((at for at in (settled_at, self.outcomes.acknowledged_at) if at), default=None)


def rows(destinations: Iterable[Destination], known: Iterable[Standing] | None = None) -> dict[int, Row]:
    """By the destination's id, in three queries for any number; one that is deleted meanwhile is missing.

    `known`: where they stand, when that has been asked already.
    """
    wanted = list(destinations)
    numbers = {each.pk for each in wanted}
    found = standings(wanted) if known is None else [each for each in known if each.destination.pk in numbers]
    keys = [(each.status.topic_id, each.status.consumer_id) for each in found]
    history, became = trends(keys, TREND_SECONDS, TREND_STEP), outcomes(keys)
    return {
        each.destination.pk: Row(each.status, each.cause, history.get(key, Trend()), became.get(key, Outcomes()))
        for each, key in zip(found, keys, strict=True)
    }


def state(row: Row) -> SafeString:
    cause = row.cause
    since = format_html("<div>since {}</div>", words.ago(cause.since)) if cause.since else ""
    shown = '<span class="tp-state tp-state-{}">{}</span><div class="tp-why">{}{}</div>'
    return format_html(shown, cause.state, cause.state, shown_text(cause.text), since)


def lag(row: Row) -> SafeString:
    status = row.status
    about = "" if status.exact else "up to "
    behind = "caught up" if status.lag_seconds == 0 else f"{words.age(status.lag_seconds)} behind"
    shown = '<div class="tp-nowrap">{}{}</div><div class="tp-why tp-nowrap">{}</div>{}'
    return format_html(shown, about, words.counted(status.lag_events, "event"), behind, sparkline(row.trend))


def sparkline(trend: Trend) -> SafeString:
    if len(trend.steps) < 2:
        return SafeString("")
    points = [(step.at, float(step.lag_events)) for step in trend.steps]
    went = trend.steps[-1].lag_events - trend.steps[0].lag_events
    arrow, said = ("→", "steady") if went == 0 else ("↗", "growing") if went > 0 else ("↘", "shrinking")
    shown = (
        '<span class="tp-spark" title="lag over the last hour: {}"><svg viewBox="0 0 80 18" aria-hidden="true">'
        '<polyline points="{}"></polyline></svg><span aria-label="{}">{}</span></span>'
    )
    return format_html(shown, said, charts.polylines(points, 80, 18)[0], said, arrow)


def out(row: Row) -> SafeString:
    status = row.status
    dead = format_html('<div class="tp-why tp-nowrap">{} dead</div>', row.outcomes.dead_said) if row.outcomes.dead else ""
    shown = '<div class="tp-nowrap">{} / {}</div><div class="tp-why tp-nowrap">{} waiting</div>{}'
    return format_html(shown, words.count(status.in_flight), words.count(status.window), words.count(status.waiting), dead)


def last(row: Row) -> SafeString:
    said = words.ago(row.acknowledged_at) if row.acknowledged_at else "none seen lately"
    shown = (
        '<div class="tp-nowrap">ack {}</div><div class="tp-why tp-nowrap">pull {}</div>'
        '<div class="tp-why tp-nowrap" title="seen in the last 15 minutes">{}</div>'
    )
    return format_html(shown, said, words.ago(row.status.pulled_at), row.outcomes.workers_said)


def plain(found: QuerySet[Destination]) -> Iterator[tuple[Any, ...]]:
    """The same for a file, a few queries for many of them; what is being deleted is left out."""
    for some in batches(found):
        shown = rows(some)
        yield from (_values(each, shown[each.pk]) for each in some if each.pk in shown)


def _values(destination: Destination, row: Row) -> tuple[Any, ...]:
    status, cause = row.status, row.cause
    return (
        destination.name, destination.type, destination.topic.name, cause.state, shown_text(cause.text), cause.since,
        status.lag_events, status.exact, status.lag_seconds, status.in_flight, status.window, status.waiting,
        row.outcomes.dead, row.acknowledged_at, status.pulled_at, row.outcomes.workers,
    )  # fmt: skip
