"""Positions that a reader may not be put at."""

from core.errors import InvalidField


class OutOfLog(InvalidField):
    """There is no such place in this topic."""
