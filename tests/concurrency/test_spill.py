"""The retention task killed at each step, and eight producers against sweeps: each offset is there once, in order."""

import os
import threading

import pytest
from django.db import connection

from apps.topics.models import Repair
from apps.topics.operations import merge, reconcile, spill
from tests.concurrency.killed import killed_after
from tests.factories import Api
from tests.logs import sql
from tests.patience import PATIENCE
from tests.topics.cold import (
    let_leaving_go,
    make_old,
    objects,
    objects_of_hours_ago,
    offsets,
    publish,
    sweep,
    topic_of,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("folder")]
SCALE = int(os.environ.get("TOWPATH_TEST_SCALE", "1"))

# The steps of a sweep as it takes them.
STEPS = """
from django.db import transaction
from apps.topics.models import Topic
from apps.topics.operations import spill
from core import sql

topic = Topic.objects.get(id=int(sys.argv[2]))
rows = spill.read_over(topic, 0)
reached("read")
real = spill.sql.run
def run(*calls):
    found = real(*calls)
    reached({"delete_spilled": "deleted", "index_segment": "indexed"}.get(calls[0][0].path.stem))
    return found
written = spill.put(topic, 0, rows)
reached("written")
spill.sql.run = run
spill.commit(topic, 0, rows, written)
reached("committed")
"""


@pytest.mark.parametrize("step", ["read", "written", "deleted", "indexed", "committed"])
def test_killed_at_a_step_and_run_again_twice_it_loses_nothing_doubles_nothing_and_leaves_no_orphan(api, folder, step):
    topic = topic_of(api, hot_records=10)
    publish(api, topic, 100)
    killed_after(STEPS, step, topic.id, folder=folder)
    assert offsets(api, topic) == list(range(100))
    publish(api, topic, 30, start=100)  # so that the next run takes another end for the same beginning
    for _ in range(2):
        sweep(topic)
        assert offsets(api, topic) == list(range(130))
    objects_of_hours_ago(folder)
    reconcile.reconcile_topic(topic)
    let_leaving_go(topic)
    named = {locator for (locator,) in sql("SELECT locator FROM segment WHERE topic_id = %s", topic.id)}
    assert {path.relative_to(folder).as_posix() for path in objects(folder / "segments")} == named
    assert topic.sweep.__class__.objects.get(topic=topic).problems == []
    assert Repair.objects.filter(topic_id=topic.id, kind="orphan").count() == (step in ("written", "deleted", "indexed"))
    assert offsets(api, topic) == list(range(130))


def test_every_offset_is_read_once_and_in_order_while_eight_append_and_sweeps_trim_and_merge(api, folder):
    topic = topic_of(api, hot_records=50)
    each, stop, seen = 60 * SCALE, threading.Event(), []

    def produce(name):
        try:
            own = Api(api.token)
            for number in range(each):
                sent = [{"partitionKey": "k", "payload": f"{name}-{number}-{part}"} for part in range(5)]
                assert own.post(f"/v1/topics/{topic.name}/records", sent).status_code == 202
        finally:
            connection.close()

    def trim():
        try:
            while not stop.is_set():
                spill.sweep_topic(topic)
                make_old(topic)
                merge.merge_topic(topic)
        finally:
            connection.close()

    def read():
        try:
            own = Api(api.token)
            while not stop.is_set() or len(seen) < 8 * each * 5:
                answer = own.get(f"/v1/topics/{topic.name}/partitions/0/records?from={len(seen)}&limit=200")
                assert answer.status_code == 200, answer.content
                seen.extend((record["offset"], record["body"]["payload"]) for record in answer.json()["records"])
        finally:
            connection.close()

    producers = [threading.Thread(target=produce, args=(n,)) for n in range(8)]
    others = [threading.Thread(target=run) for run in (trim, trim, read)]
    for thread in producers + others:
        thread.start()
    for thread in producers:
        thread.join(2 * PATIENCE)
    stop.set()
    for thread in others:
        thread.join(2 * PATIENCE)
    assert [offset for offset, _ in seen] == list(range(8 * each * 5))
    assert len({payload for _, payload in seen}) == len(seen)
    assert objects(folder / "segments")
    topic.sweep.refresh_from_db()
    assert topic.sweep.merged_segments > 0
