"""Words and charts for the console's templates."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import template

from core import words

register = template.Library()
register.filter("age", words.age)
register.filter("count", words.count)
register.filter("size", words.size)
register.filter("moment", words.moment)
register.filter("ago", words.ago)

WIDTH, HEIGHT = 600, 120


@register.inclusion_tag("console/chart.html")
def line_chart(title: str, points: Sequence[tuple[datetime, float | None]], unit: str = "events") -> dict[str, Any]:
    """A line over time as SVG; a missing value is a gap in the line, not a zero."""
    known = [value for _, value in points if value is not None]
    top = max([1.0, *known])
    return {
        "title": title,
        "unit": unit,
        "width": WIDTH,
        "height": HEIGHT,
        "top": words.age(top) if unit == "seconds" else words.count(int(top)),
        "lines": _lines(points, top),
        "first": points[0][0] if points else None,
        "last": points[-1][0] if points else None,
        "known": bool(known),
    }


def _lines(points: Sequence[tuple[datetime, float | None]], top: float) -> list[str]:
    if not points:
        return []
    start, span = points[0][0], max((points[-1][0] - points[0][0]).total_seconds(), 1.0)
    lines: list[list[str]] = [[]]
    for at, value in points:
        if value is None:
            lines.append([])
            continue
        x = (at - start).total_seconds() / span * WIDTH
        lines[-1].append(f"{x:.1f},{HEIGHT - value / top * (HEIGHT - 4) - 2:.1f}")
    return [" ".join(line if len(line) > 1 else line * 2) for line in lines if line]
