"""Records as sent: an array of `{partitionKey, payload, key?}`, read strictly."""

from typing import Annotated

import msgspec

from apps.topics.cloudevents.structured import quickly, split
from apps.topics.items import RECORD, RECORD_FRAME_BYTES, Item, key_hash
from core import parse
from core.errors import InvalidField

Key = Annotated[str, msgspec.Meta(max_length=2048)]


class Record(parse.Body, frozen=True):
    partition_key: Key
    payload: str
    key: Key | None = None


class Records(parse.Body, frozen=True):
    """Only to read one record exactly where the quick way cannot vouch for the batch."""

    records: list[Record]


_DECODER = msgspec.json.Decoder(list[Record])


def read_records(body: bytes) -> list[Item]:
    """1 to the limit of records. Raises InvalidJson or InvalidField that names `records[n].field`."""
    slices = split(body, "records", InvalidField)
    if quickly(body, slices) is None:
        return _read_exactly(body)
    try:
        return [_item(record, len(raw)) for record, raw in zip(_DECODER.decode(body), slices, strict=True)]
    except msgspec.ValidationError:
        return _read_exactly(body)


def _read_exactly(body: bytes) -> list[Item]:
    """The slow way to the same, which knows what to say."""
    wrapped = parse.decode(b'{"records":' + body + b"}", Records)
    return [_item(record, 6 * len(record.payload.encode())) for record in wrapped.records]


def _item(record: Record, sent_bytes: int) -> Item:
    hashed = None if record.key is None else key_hash(record.key)
    size = sent_bytes + 2 * len(record.partition_key) + RECORD_FRAME_BYTES
    return (record.partition_key, record.key, hashed, RECORD, size, None, None, None, record.payload)
