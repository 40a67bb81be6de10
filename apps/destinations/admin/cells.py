"""What a row or a page of the admin says about a destination: where it stands, why, and how it got there."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.destinations.models import Destination
from apps.destinations.selectors.cause import Cause
from apps.destinations.selectors.standing import standings
from apps.destinations.selectors.status import Status
from apps.destinations.selectors.trend import Trend, trends
from core import charts, words

TREND_SECONDS, TREND_STEP = 3600, 120


@dataclass(frozen=True)
class Row:
    status: Status
    cause: Cause
    trend: Trend


def rows(destinations: Iterable[Destination]) -> dict[int, Row]:
    """By the destination's id, in two queries for any number; one that is deleted meanwhile is missing."""
    found = standings(destinations)
    keys = [(each.status.topic_id, each.status.consumer_id) for each in found]
    history = trends(keys, TREND_SECONDS, TREND_STEP)
    return {
        each.destination.pk: Row(each.status, each.cause, history.get(key, Trend()))
        for each, key in zip(found, keys, strict=True)
    }


def state(row: Row) -> SafeString:
    cause = row.cause
    since = format_html("<div>since {}</div>", words.ago(cause.since)) if cause.since else ""
    shown = '<span class="tp-state tp-state-{}">{}</span><div class="tp-why">{}{}</div>'
    return format_html(shown, cause.state, cause.state, cause.text, since)


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
    shown = '<div class="tp-nowrap">{} / {}</div><div class="tp-why tp-nowrap">{} waiting</div>'
    return format_html(shown, words.count(status.in_flight), words.count(status.window), words.count(status.waiting))


def last(row: Row) -> SafeString:
    acknowledged = row.trend.acknowledged_at
    said = words.ago(acknowledged) if acknowledged else "none seen in the last hour"
    shown = '<div class="tp-nowrap">ack {}</div><div class="tp-why tp-nowrap">pull {}</div>'
    return format_html(shown, said, words.ago(row.status.pulled_at))
