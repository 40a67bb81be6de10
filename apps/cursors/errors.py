"""Positions that a reader may not be put at, and readers that may not move one."""

from core.errors import Conflict, InvalidField


class OutOfLog(InvalidField):
    """There is no such place in this topic."""


class CursorRewind(Conflict):
    """The group has committed more than this already; seek moves it back."""

    code = "CURSOR_REWIND"


class Fenced(Conflict):
    """The partition is assigned to another member, or was assigned anew since this token was given."""

    code = "FENCED"
