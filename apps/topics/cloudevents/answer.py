"""What is in the log as clients see it: as CloudEvents or as records. Bodies are spliced in, never parsed again."""

import orjson

from apps.topics.cold.segment import LogRow
from apps.topics.items import RECORD
from apps.topics.selectors.log import MAX_PAGE_BYTES, Page
from apps.topics.selectors.resolve import TopicRef
from core.clock import rfc3339
from core.sequence import sequence


def cloud_event(topic: TopicRef, partition: int, event: LogRow) -> bytes:
    """The event as structured JSON with its sequence; a record in the form of one."""
    place = sequence(partition, event.offset).encode()
    if event.kind != RECORD:
        return event.body[:-1].encode() + b',"sequence":"' + place + b'"}'
    key = orjson.dumps(event.partition_key)
    # An attribute is never empty: the empty key is shown by there being none.
    keyed = b',"partitionkey":%s,"subject":%s' % (key, key) if event.partition_key else b""
    return (
        b'{"specversion":"1.0","id":"%s/%s","source":"/v1/topics/%s","type":"towpath.record"%s,"data":%s,"sequence":"%s"}'
    ) % (str(topic.uid).encode(), place, topic.name.encode(), keyed, orjson.dumps(event.body), place)


def record(topic: TopicRef, event: LogRow) -> bytes:
    """The event in the form of a record: the payload of a CloudEvent is its JSON as it was sent."""
    shown: dict[str, object] = {"offset": event.offset, "appendedAt": rfc3339(event.appended_at)}
    if event.key is not None:
        shown["key"] = event.key
    shown["body"] = {"topic": topic.name, "partitionKey": event.partition_key, "payload": event.body}
    return orjson.dumps(shown)


def record_page(topic: TopicRef, page: Page, max_bytes: int = MAX_PAGE_BYTES) -> bytes:
    """`{"partition", "records", "nextOffset", "lag"}`, at most `max_bytes` but never below one record."""
    records: list[bytes] = []
    size = 0
    for event in page.events:
        shown = record(topic, event)
        size += len(shown) + 1
        if records and size > max_bytes - 128:
            break
        records.append(shown)
    following = page.events[len(records) - 1].offset + 1 if records else page.head
    return b'{"partition":%d,"records":[%s],"nextOffset":%d,"lag":%d}' % (
        page.partition,
        b",".join(records),
        following,
        page.head - following,
    )
