"""Words and charts for the console's templates."""

from typing import Any

from django import template

from core import charts, masking, words
from core.sequence import sequence

register = template.Library()
register.filter("sequence", sequence)
register.filter("age", words.age)
register.filter("count", words.count)
register.filter("size", words.size)
register.filter("moment", words.moment)
register.filter("ago", words.ago)
register.filter("ahead", words.ahead)
register.filter("rate", words.rate)
register.filter("masked", masking.shown_text)

WIDTH, HEIGHT = 600, 120


@register.inclusion_tag("console/chart.html")
def line_chart(title: str, points: charts.Points, unit: str = "events") -> dict[str, Any]:
    """A line over time with its scale in words."""
    top = charts.highest(points)
    return {
        "title": title,
        "width": WIDTH,
        "height": HEIGHT,
        "top": _said(top, unit),
        "lines": charts.polylines(points, WIDTH, HEIGHT),
        "first": points[0][0] if points else None,
        "last": points[-1][0] if points else None,
    }


def _said(value: float, unit: str) -> str:
    match unit:
        case "seconds":
            return words.age(value)
        case "events/s":
            return words.rate(value, "events")
        case "events":
            return words.counted(int(value), "event")
    return f"{words.count(int(value))} {unit}".rstrip()
