"""A segment: contiguous events of one partition as JSON lines under a header, compressed with zstd. Pure.

All columns of an event are in it, so that what is read back is what was appended.
"""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
_NAME = re.compile(r"segments/[^/]+/(\d{3})/(\d{20})-\d{20}-[0-9a-f]{16}\.jsonl\.zst", re.ASCII)


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
    made_at: float = field(default_factory=time.monotonic, compare=False)


class Segment:
    """A segment that was read: each line is parsed when it is asked for."""

    def __init__(self, content: bytes, digest: str, first_offset: int, records: int) -> None:
        """Raises Unavailable for content that is not what was written."""
        if sha256(content).hexdigest() != digest:
            raise Unavailable("A cold segment is damaged.")
        header, *lines = zstandard.ZstdDecompressor().decompress(content).split(b"\n")
        self.header = orjson.loads(header)
        self.first_offset = first_offset
        self.records = records
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

    def lines(self) -> Sequence[bytes]:
        """Each event as it stands in the file. Raises Unavailable where they are not those that the index names."""
        ends = [(self.first_offset, self._lines[0]), (self.first_offset + self.records - 1, self._lines[-1])]
        if any(_row(line).offset != offset for offset, line in ends):
            raise Unavailable("A cold segment holds other offsets than its name says.")
        return self._lines

    def first_since(self, time: datetime) -> int:
        """The offset of the first event appended then or later; the one after the last when there is none."""
        low, high = 0, len(self._lines)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if _row(self._lines[middle]).appended_at < time else (low, middle)
        return self.first_offset + low


def written(topic_uid: str, topic_name: str, partition: int, rows: Sequence[LogRow]) -> Written:
    """The same rows give the same name and content."""
    return _packed(topic_uid, topic_name, partition, rows[0].offset, len(rows), map(_line, rows))


def merged(topic_uid: str, topic_name: str, partition: int, sources: Sequence[Segment]) -> Written:
    """One segment of the events of several neighbours, each line as it was. Raises Unavailable where they are none."""
    first, records = sources[0].first_offset, 0
    for source in sources:
        if source.first_offset != first + records:
            raise Unavailable("Cold segments that should be neighbours are not.")
        records += source.records
    lines = (line for source in sources for line in source.lines())
    return _packed(topic_uid, topic_name, partition, first, records, lines)


def _packed(uid: str, topic_name: str, partition: int, first: int, records: int, lines: Iterable[bytes]) -> Written:
    last = first + records - 1
    header = {
        "format": FORMAT,
        "topic": uid,
        "topicName": topic_name,
        "partition": partition,
        "firstOffset": first,
        "lastOffset": last,
        "records": records,
    }
    content = b"\n".join([orjson.dumps(header), *lines, b""])
    packed = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(content)
    digest = sha256(packed).hexdigest()
    return Written(f"{folder(uid)}/{partition:03d}/{first:020d}-{last:020d}-{digest[:16]}.jsonl.zst", packed, digest)


def folder(topic_uid: str) -> str:
    return f"segments/{topic_uid}"


def place(name: str) -> tuple[int, int]:
    """Partition and first offset of the segment that an object's name says it is; (-1, -1) for what is none."""
    found = _NAME.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else (-1, -1)


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
