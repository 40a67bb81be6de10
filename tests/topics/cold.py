"""A topic whose events are in part in cold storage, in a folder of the test's own."""

import json
import os
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.topics.cold.cache import forget_opened
from apps.topics.models import Topic
from apps.topics.operations import expire, spill
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


def offsets(api: Any, topic: Topic, partition: int = 0) -> list[int]:
    """All that can be read, as it is read: page by page."""
    found: list[int] = []
    place = f"/v1/topics/{topic.name}/partitions/{partition}"
    first = api.get(f"{place}/bounds").json()["oldestOffset"]
    while records := api.get(f"{place}/records?from={first}&limit=1000").json()["records"]:
        found += [record["offset"] for record in records]
        first = found[-1] + 1
    return found


def segments_of(topic: Topic) -> list[tuple[int, int]]:
    """First and last offset of each readable one."""
    wanted = "SELECT first_offset, last_offset FROM segment WHERE topic_id = %s AND forgotten_at IS NULL ORDER BY 1"
    return [(first, last) for first, last in sql(wanted, topic.id)]


def make_old(topic: Topic, days: int = 2) -> None:
    """The segments of a topic, so that it is time to merge them: as if all had been appended and spilled back then."""
    with transaction.atomic():
        for partition in range(topic.partitions):  # merging and letting go wait meanwhile
            expire.hold_cold(topic.id, partition, 0)
        sql("UPDATE segment SET spilled_at = spilled_at - s.back, first_at = first_at - s.back, last_at = last_at - s.back"
            " FROM (SELECT make_interval(days => %s) AS back) AS s"
            " WHERE topic_id = %s AND spilled_at > statement_timestamp() - interval '1 day'", days, topic.id)  # fmt: skip


def many_small(api: Any, count: int = 6, each: int = 5, **retention: Any) -> Topic:
    """A topic with `count` segments of `each` events that are to be merged, and one hot event."""
    topic = topic_of(api, hot_records=1, hot_seconds=10**8, **retention)
    publish(api, topic, 1)
    for number in range(count):
        publish(api, topic, each, start=1 + number * each)
        assert sweep(topic) == each
    make_old(topic)
    return topic


def objects_of_hours_ago(folder: Path) -> None:
    for path in objects(folder / "segments"):
        os.utime(path, (time.time() - 7_200,) * 2)


def let_leaving_go(topic: Topic) -> int:
    """What was noted as leaving goes, as if its grace period were over; so is that in which its name is kept."""
    gone = 0
    for _ in range(2):
        gone += expire.delete_forgotten()
        sql("UPDATE segment_leaving SET since = since - interval '1 hour', deleted_at = deleted_at - interval '1 hour'"
            " WHERE topic_id = %s", topic.id)  # fmt: skip
    return gone + expire.delete_forgotten()
