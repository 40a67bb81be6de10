"""Lease tokens on the wire: the queue's number, a dot, 128 random bits. The number routes a call that names no queue."""

import re
from dataclasses import dataclass
from uuid import UUID

_TOKEN = re.compile(r"([1-9][0-9]{0,9})\.([0-9a-f]{32})", re.ASCII)
_MAX_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class Token:
    queue: int
    secret: UUID

    def __str__(self) -> str:
        return f"{self.queue}.{self.secret.hex}"


def read(text: str) -> Token | None:
    """None for what was never handed out in this form."""
    match = _TOKEN.fullmatch(text)
    if match is None or int(match[1]) > _MAX_NUMBER:
        return None
    return Token(int(match[1]), UUID(match[2]))
