"""What the endpoints of this app take and answer, beyond what those of cursors do."""

from core import parse
from core.openapi import Answer


class ExpireCold(parse.Body, frozen=True):
    before: str
    """A time: segments whose last record was appended earlier go."""


class Expired(Answer):
    segments: int
