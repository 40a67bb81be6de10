"""Lines over time as points of an SVG, drawn on the server: nothing to load, and they renew with the page's text."""

from collections.abc import Sequence
from datetime import datetime

Points = Sequence[tuple[datetime, float | None]]


def polylines(points: Points, width: int, height: int) -> list[str]:
    """The `points` attribute of each unbroken piece of the line; a missing value is a gap, not a zero."""
    if not points:
        return []
    start, span = points[0][0], max((points[-1][0] - points[0][0]).total_seconds(), 1.0)
    # At least 1, so that a line of zeros lies at the bottom.
    top = max(1.0, highest(points))
    pieces: list[list[str]] = [[]]
    for at, value in points:
        if value is None:
            pieces.append([])
            continue
        x = (at - start).total_seconds() / span * width
        pieces[-1].append(f"{x:.1f},{height - value / top * (height - 4) - 2:.1f}")
    return [" ".join(piece if len(piece) > 1 else piece * 2) for piece in pieces if piece]


def highest(points: Points) -> float:
    return max((value for _, value in points if value is not None), default=0.0)
