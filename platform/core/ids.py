"""UUIDv7 (RFC 9562): ids that sort by time. Made here, since PostgreSQL has uuidv7() from 18 on only."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """The 12 bits behind the milliseconds are their fraction (method 3 of section 6.2): ids of one thread sort as made."""
    milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
    fraction = (nanoseconds << 12) // 1_000_000
    random = int.from_bytes(os.urandom(8), "big") >> 2
    return UUID(int=milliseconds << 80 | 0x7 << 76 | fraction << 64 | 0b10 << 62 | random)
