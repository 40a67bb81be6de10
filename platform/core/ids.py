"""UUIDv7 (RFC 9562): ids that sort by time. Made here, since PostgreSQL has uuidv7() from 18 on only."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    return UUID(int=milliseconds << 80 | 0x7 << 76 | (random >> 68) << 64 | 0b10 << 62 | random & (1 << 62) - 1)
