"""What is appended: one tuple an event, in the order of the arrays that the statement takes.

Tuples, not objects: a batch of hundreds becomes columns by one zip, and building anything richer costs more than parsing.
"""

from hashlib import sha256

import orjson

RECORD, EVENT = 0, 1

# partition key, key, hash of what is compared by dedup, kind, bytes as answered by a pull, type, source, subject, body
Item = tuple[str, str | None, str | None, int, int, str | None, str | None, str | None, str]

SEQUENCE_BYTES = len(',"sequence":"003.00000000000000000120"')
RECORD_FRAME_BYTES = 512  # what stands around the payload of a record read as a CloudEvent, at most, but for its key


def key_hash(*compared: str) -> str:
    """128 bits of SHA-256 over the JSON array of what is compared: (key) of a record, (source, id) of an event."""
    return sha256(orjson.dumps(compared)).hexdigest()[:32]


def stored_bytes(item: Item) -> int:
    body = item[8]
    return len(body) if body.isascii() else len(body.encode())
