"""A topic whose events are in part in cold storage, in a folder of the test's own."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.topics.cold.cache import forget_opened
from apps.topics.models import Topic
from apps.topics.operations import spill
from apps.topics.selectors import resolve
from core.ids import uuid7
from tests.logs import sql


def topic_of(api: Any, partitions: int = 1, **retention: Any) -> Topic:
    """Retention as the model has it: hot_records=10."""
    made = api.post("/v1/topics", {"name": f"cold-{uuid7()}", "partitions": partitions}).json()
    topic = Topic.objects.get(uid=made["id"])
    if retention:
        Topic.objects.filter(id=topic.id).update(**retention)
        topic.refresh_from_db()
    return topic


def publish(api: Any, topic: Topic, count: int, key: str = "k", start: int = 0, **more: Any) -> None:
    for low in range(start, start + count, 500):
        sent = [
            {"specversion": "1.0", "id": f"{key}{n}", "source": "/s", "type": f"t.{n % 3}", "subject": "x",
             "partitionkey": key, "data": {"n": n}, **more}
            for n in range(low, min(low + 500, start + count))
        ]  # fmt: skip
        answer = api.generic("POST", f"/v1/topics/{topic.name}/events", json_bytes(sent), BATCH)
        assert answer.status_code == 202, answer.content


BATCH = "application/cloudevents-batch+json"


def json_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def use_store(folder: Path) -> None:
    settings.TOWPATH["COLD_URL"] = f"file://{folder}"
    forget_opened()
    resolve.forget()


def sweep(topic: Topic) -> int:
    topic.refresh_from_db()
    return spill.sweep_topic(topic)


def objects(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def hot(topic: Topic, partition: int = 0) -> list[int]:
    found = sql('SELECT "offset" FROM event WHERE topic_id = %s AND partition = %s ORDER BY 1', topic.id, partition)
    return [offset for (offset,) in found]
