"""A segment: contiguous events of one partition as JSON lines under a header, compressed with zstd. Pure.

All columns of an event are in it, so that what is read back is what was appended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import orjson
import zstandard

from core.clock import rfc3339
from core.errors import Unavailable

FORMAT = "towpath-segment/1"
LEVEL = 3
KINDS = ("record", "event")


@dataclass(frozen=True, slots=True)
class LogRow:
    """An event with all its columns, in the order in which statements select them."""

    offset: int
    appended_at: datetime
    total_bytes: int
    kind: int
    partition_key: str
    key: str | None
    type: str | None
    source: str | None
    subject: str | None
    body: str


@dataclass(frozen=True, slots=True)
class Written:
    """A segment ready to be stored."""

    name: str
    content: bytes
    sha256: str


class Segment:
    """A segment that was read: each line is parsed when it is asked for."""

    def __init__(self, content: bytes, digest: str, first_offset: int, records: int) -> None:
        """Raises Unavailable for content that is not what was written."""
        if sha256(content).hexdigest() != digest:
            raise Unavailable("A cold segment is damaged.")
        header, *lines = zstandard.ZstdDecompressor().decompress(content).split(b"\n")
        self.header = orjson.loads(header)
        self.first_offset = first_offset
        self._lines = lines[:records]
        if len(self._lines) != records or self.header["firstOffset"] != first_offset:
            raise Unavailable("A cold segment is not the one that was looked for.")
        self.bytes = sum(map(len, self._lines)) + 64 * records

    def rows(self, first: int, after: int) -> list[LogRow]:
        """Those of the offsets first … after - 1 that are in it."""
        low, high = (max(0, offset - self.first_offset) for offset in (first, after))
        return [_row(line) for line in self._lines[low:high]]

    def row(self, offset: int) -> LogRow:
        return _row(self._lines[offset - self.first_offset])

    def first_since(self, time: datetime) -> int:
        """The offset of the first event appended then or later; the one after the last when there is none."""
        low, high = 0, len(self._lines)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if _row(self._lines[middle]).appended_at < time else (low, middle)
        return self.first_offset + low


def written(topic_uid: str, topic_name: str, partition: int, rows: Sequence[LogRow]) -> Written:
    """The same rows give the same name and content."""
    first, last = rows[0].offset, rows[-1].offset
    header = {
        "format": FORMAT,
        "topic": topic_uid,
        "topicName": topic_name,
        "partition": partition,
        "firstOffset": first,
        "lastOffset": last,
        "records": len(rows),
    }
    lines = [orjson.dumps(header), *map(_line, rows), b""]
    content = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(b"\n".join(lines))
    digest = sha256(content).hexdigest()
    name = f"{folder(topic_uid)}/{partition:03d}/{first:020d}-{last:020d}-{digest[:16]}.jsonl.zst"
    return Written(name, content, digest)


def folder(topic_uid: str) -> str:
    return f"segments/{topic_uid}"


def _line(row: LogRow) -> bytes:
    return orjson.dumps(
        {
            "offset": row.offset,
            "appendedAt": rfc3339(row.appended_at),
            "totalBytes": row.total_bytes,
            "kind": KINDS[row.kind],
            "partitionKey": row.partition_key,
            "key": row.key,
            "type": row.type,
            "source": row.source,
            "subject": row.subject,
            "body": row.body,
        }
    )


def _row(line: bytes) -> LogRow:
    found: dict[str, Any] = orjson.loads(line)
    return LogRow(
        found["offset"],
        datetime.fromisoformat(found["appendedAt"]),
        found["totalBytes"],
        KINDS.index(found["kind"]),
        found["partitionKey"],
        found["key"],
        found["type"],
        found["source"],
        found["subject"],
        found["body"],
    )
