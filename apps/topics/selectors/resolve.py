"""From the name or id in a URL to what the hot paths need of a topic, without a query while the answer is fresh.

What is cached is at most 5 seconds old. A topic that was deleted meanwhile has no partition rows any more, so that an append
with a stale id writes nothing and asks again.
"""

import threading
import time
from dataclasses import dataclass
from uuid import UUID

from apps.topics.models import Topic
from core.errors import NotFound
from core.names import as_uuid

FRESH_SECONDS = 5.0
MAX_CACHED = 10_000
COLUMNS = (
    "id", "uid", "name", "partitions", "dedup_seconds",
    "max_hot_records", "max_hot_bytes", "max_records_per_second", "max_backlog",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TopicRef:
    id: int
    uid: UUID
    name: str
    partitions: int
    dedup_seconds: int
    max_hot_records: int | None = None
    max_hot_bytes: int | None = None
    max_records_per_second: int | None = None
    max_backlog: int | None = None


_cached: dict[str, tuple[float, TopicRef]] = {}
_lock = threading.Lock()


def topic(text: str) -> TopicRef:
    """The topic of that name or uid. Raises NotFound."""
    found = _cached.get(text)
    if found is not None and time.monotonic() - found[0] < FRESH_SECONDS:
        return found[1]
    return _remember(text, fresh_topic(text))


def fresh_topic(text: str) -> TopicRef:
    """The same from the database. Raises NotFound."""
    uid = as_uuid(text)
    wanted = Topic.objects.filter(name=text) if uid is None else Topic.objects.filter(uid=uid)
    row = wanted.values_list(*COLUMNS).first()
    if row is None:
        forget(text)
        raise NotFound("There is no such topic.")
    return TopicRef(*row)


def topic_of_id(topic_id: int) -> TopicRef:
    """Raises NotFound."""
    row = Topic.objects.filter(id=topic_id).values_list(*COLUMNS).first()
    if row is None:
        raise NotFound("There is no such topic.")
    return TopicRef(*row)


def forget(*texts: str) -> None:
    """Drops what is cached of these names or uids; of everything when none is named."""
    with _lock:
        for text in texts or tuple(_cached):
            _cached.pop(text, None)


def _remember(text: str, found: TopicRef) -> TopicRef:
    with _lock:
        if len(_cached) >= MAX_CACHED:
            _cached.clear()
        _cached[text] = (time.monotonic(), found)
    return found
