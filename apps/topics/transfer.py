"""History as JSON lines of CloudEvents: out of a topic and into one, part by part, and on where it was broken off.

How far an export is stands beside its file; how far an import is, in the database (operations/import_part.py). A compressed
file is a row of frames, one for each part: what is behind the last whole part is cut off before going on.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson
import zstandard

from apps.topics.cloudevents.answer import cloud_event
from apps.topics.cloudevents.structured import read_batch
from apps.topics.items import RECORD, Item
from apps.topics.records import read_records
from apps.topics.selectors.log import bounds, page
from apps.topics.selectors.resolve import TopicRef
from core.errors import Invalid

PART = 1_000
RECORD_TYPE = "towpath.record"
RECORD_KEY = "recordkey"
"""The extension that keeps a record's own key, which no attribute of its event has."""

_SEQUENCE = re.compile(rb',"sequence":"\d{3}\.\d{20}"\}$')

Told = Callable[[int, int], None]
"""Called with how many events are done, of how many (in reading: bytes)."""


class Progress:
    """Beside a file: how far its export is. Written whole or not at all, gone when all is done."""

    def __init__(self, file: Path) -> None:
        self._path = file.with_name(f"{file.name}.export-progress")

    def load(self) -> dict[str, Any]:
        return dict(json.loads(self._path.read_text())) if self._path.exists() else {}

    def save(self, **state: Any) -> None:
        new = self._path.with_name(f"{self._path.name}.new")
        new.write_text(json.dumps(state))
        new.replace(self._path)

    def done(self) -> None:
        self._path.unlink(missing_ok=True)


def write_history(topic: TopicRef, file: Path, told: Told) -> int:
    """Everything readable up to the heads of the first start, partition by partition; returns how many events."""
    progress = Progress(file)
    state = progress.load() or {"size": 0, "events": 0, "at": {}, "heads": {}}
    if not state["heads"]:
        limits = bounds(topic)
        state["at"] = {str(each.partition): each.oldest_offset for each in limits}
        state["heads"] = {str(each.partition): each.next_offset for each in limits}
    total = sum(state["heads"].values()) - sum(state["at"].values()) + state["events"]
    with file.open("r+b" if state["size"] else "wb") as out:
        out.truncate(state["size"])
        out.seek(state["size"])
        for lines in _parts(topic, state):
            out.write(packed(file, b"".join(lines)))
            out.flush()
            state["size"], state["events"] = out.tell(), state["events"] + len(lines)
            progress.save(**state)
            told(state["events"], total)
    progress.done()
    return int(state["events"])


def _parts(topic: TopicRef, state: dict[str, Any]) -> Iterator[list[bytes]]:
    for partition, head in state["heads"].items():
        while state["at"][partition] < head:
            first = state["at"][partition]
            found = page(topic, int(partition), first, min(PART, head - first))
            state["at"][partition] = first + len(found.events)
            yield [_line(cloud_event(topic, found.partition, row), row.kind, row.key) for row in found.events]


def _line(event: bytes, kind: int, key: str | None) -> bytes:
    if kind == RECORD and key is not None:
        event = event[:-1] + b',"%s":%s}' % (RECORD_KEY.encode(), orjson.dumps(key))
    return event.replace(b"\n", b" ") + b"\n"  # line breaks between tokens only: within strings they are escaped


def packed(file: Path, content: bytes) -> bytes:
    if file.suffix == ".zst":
        return zstandard.ZstdCompressor(3).compress(content)
    return gzip.compress(content, 6, mtime=0) if file.suffix == ".gz" else content


def digest(file: Path) -> str:
    """Of the file as it is: what tells an import that goes on from another one."""
    with file.open("rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def read_history(file: Path, done: int, told: Told) -> Iterator[tuple[list[Item], int]]:
    """What is to be appended behind the first `done` lines, part by part, each with the line it ends at.

    Raises Invalid naming the line.
    """
    with file.open("rb") as raw:
        lines: list[bytes] = []
        for number, line in enumerate(_opened(file, raw), 1):
            if number > done and line.strip():
                lines.append(line)
            if len(lines) == PART // 2:
                yield _items(lines, number), number
                told(raw.tell(), file.stat().st_size)
                lines = []
        if lines:
            yield _items(lines, number), number


def _opened(file: Path, raw: BinaryIO) -> BinaryIO:
    if file.suffix == ".zst":
        unpacked = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return cast(BinaryIO, _Lines(unpacked))
    return cast(BinaryIO, gzip.open(raw)) if file.suffix == ".gz" else raw


class _Lines:
    """Lines of a stream that can only be read in blocks."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        while block := self._stream.read(1 << 20):
            *whole, rest = (rest + block).split(b"\n")
            yield from (line + b"\n" for line in whole)
        if rest:
            yield rest


def _items(lines: list[bytes], last: int) -> list[Item]:
    try:
        return [item for line in lines for item in _one(line.strip())]
    except Invalid as error:
        raise Invalid(f"Of the {len(lines)} lines up to line {last}: {error.message}") from error


def _one(line: bytes) -> list[Item]:
    line = _SEQUENCE.sub(b"}", line)
    if RECORD_TYPE.encode() in line or b'"sequence"' in line:
        return _exactly(line)
    return read_batch(b"[" + line + b"]")


def _exactly(line: bytes) -> list[Item]:
    """A record again, or an event of another shape than ours: without its sequence."""
    event = orjson.loads(line)
    event.pop("sequence", None)
    if event.get("type") != RECORD_TYPE:
        return read_batch(orjson.dumps([event]))
    record = {"partitionKey": event.get("partitionkey", ""), "payload": event.get("data"), "key": event.get(RECORD_KEY)}
    return read_records(orjson.dumps([record]))
