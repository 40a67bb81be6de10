"""Merging killed at each step and run again, and letting go of what was merged: each offset is there once, in order."""

import threading

import pytest
from django.db import connection

from apps.console.operations.dump import one_instant
from apps.leases.operations import retain
from apps.topics.cold.cache import forget_opened
from apps.topics.models import Repair, Sweep
from apps.topics.operations import expire, merge, reconcile, spill
from tests.concurrency.killed import killed_after
from tests.concurrency.sessions import in_background
from tests.factories import Api
from tests.logs import sql
from tests.topics.cold import (
    let_leaving_go,
    make_old,
    many_small,
    objects,
    objects_of_hours_ago,
    offsets,
    publish,
    segments_of,
    sweep,
    topic_of,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120), pytest.mark.usefixtures("folder")]

MERGING = """
from apps.topics.models import Topic
from apps.topics.operations import merge

topic = Topic.objects.get(id=int(sys.argv[2]))
real, put = merge.sql.run, merge.store.put_if_absent
def run(*calls):
    found = real(*calls)
    steps = {"small_segments": "looked", "lock_cold": "locked", "remove_merged": "removed", "index_merged": "indexed"}
    reached(steps.get(calls[0][0].path.stem))
    return found
def put_if_absent(*arguments):
    reached("read")
    put(*arguments)
    reached("written")
merge.sql.run, merge.store.put_if_absent = run, put_if_absent
merge.merge_topic(topic)
reached("committed")
"""
LETTING_GO = """
from apps.topics.operations import expire

real, delete = expire.sql.run, expire.store.delete
def run(*calls):
    found = real(*calls)
    reached({"leaving": "found", "mark_left": "marked"}.get(calls[0][0].path.stem))
    return found
def delete_some(*names):
    delete(*names[:3])
    reached("half")
    delete(*names)
    reached("deleted")
expire.sql.run, expire.store.delete = run, delete_some
expire.delete_forgotten()
"""
EVENTS = 31


@pytest.fixture
def topic(api):
    """Six segments of five events, and one hot event."""
    return many_small(api)


def read(api, topic):
    forget_opened()
    return offsets(api, topic)


def clean(api, topic, folder, orphans):
    """What a reconcile and the grace period leave: what the index names, and nothing else."""
    objects_of_hours_ago(folder)
    assert reconcile.reconcile_topic(topic) == orphans == Repair.objects.filter(topic_id=topic.id, kind="orphan").count()
    let_leaving_go(topic)
    named = {locator for (locator,) in sql("SELECT locator FROM segment WHERE topic_id = %s", topic.id)}
    assert {path.relative_to(folder).as_posix() for path in objects(folder / "segments")} == named
    assert Sweep.objects.get(topic=topic).problems == []
    assert sql("SELECT count(*) FROM segment_leaving") == [(0,)]
    assert read(api, topic) == list(range(EVENTS))


@pytest.mark.parametrize("step", ["looked", "read", "written", "locked", "removed", "indexed", "committed"])
def test_killed_at_a_step_and_run_again_it_loses_nothing_doubles_nothing_and_leaves_no_orphan(api, topic, folder, step):
    killed_after(MERGING, step, topic.id, folder=folder)
    assert read(api, topic) == list(range(EVENTS))
    assert segments_of(topic) == ([(0, 29)] if step == "committed" else [(n, n + 4) for n in range(0, 30, 5)])
    for _ in range(2):
        merge.merge_topic(topic)
        assert segments_of(topic) == [(0, 29)] and read(api, topic) == list(range(EVENTS))
    clean(api, topic, folder, orphans=0)


def test_what_a_killed_merge_wrote_is_an_orphan_when_the_next_one_merges_otherwise(api, topic, folder):
    killed_after(MERGING, "written", topic.id, folder=folder)
    sql("UPDATE segment SET raw_bytes = 8388608 WHERE topic_id = %s AND first_offset = 0", topic.id)
    merge.merge_topic(topic)
    assert segments_of(topic) == [(0, 4), (5, 29)]
    clean(api, topic, folder, orphans=1)


@pytest.mark.parametrize("step", ["found", "half", "deleted", "marked"])
def test_letting_go_of_what_was_merged_is_killed_at_a_step_and_run_again(api, topic, folder, step):
    merge.merge_topic(topic)
    sql("UPDATE segment_leaving SET since = since - interval '1 hour' WHERE topic_id = %s", topic.id)
    killed_after(LETTING_GO, step, folder=folder)
    assert read(api, topic) == list(range(EVENTS))
    clean(api, topic, folder, orphans=0)
    assert len(objects(folder / "segments")) == 1


def test_while_a_dump_follows_the_index_no_object_is_deleted(api, topic, folder):
    held, done = threading.Event(), threading.Event()

    def copy():
        with one_instant():
            expire.keep_objects()
            held.set()
            assert done.wait(60)

    merge.merge_topic(topic)
    sql("UPDATE segment_leaving SET since = since - interval '1 hour' WHERE topic_id = %s", topic.id)
    with in_background(copy) as copying:
        assert held.wait(60)
        assert expire.delete_forgotten() == 0 and len(objects(folder / "segments")) == 7
        done.set()
        copying.result(60)
    assert expire.delete_forgotten() == 6 and len(objects(folder / "segments")) == 1


def test_while_merging_letting_go_and_trimming_all_go_on_in_twos_no_page_has_a_hole_and_the_index_is_in_order(api, folder):
    topic, stop, failed = topic_of(api, hot_records=5, hot_seconds=10**8), threading.Event(), []

    def repeated(work):
        try:
            while not stop.is_set():
                work()
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    def trim():
        spill.sweep_topic(topic)
        make_old(topic)

    def let_go():
        ends = [last + 1 for _, last in segments_of(topic)]
        if len(ends) > 3:
            (oldest,) = sql("SELECT oldest_offset FROM topic_partition WHERE topic_id = %s", topic.id)[0]
            retain.let_go(topic.id, 0, oldest, ends[1])

    def read():
        """From the oldest to the head; what retention passes meanwhile is gone, and said to be."""
        own, place = Api(api.token), f"/v1/topics/{topic.name}/partitions/0"
        first = own.get(f"{place}/bounds").json()["oldestOffset"]
        while (answer := own.get(f"{place}/records?from={first}&limit=50")).status_code == 200 and answer.json()["records"]:
            found = [record["offset"] for record in answer.json()["records"]]
            assert found == list(range(first, first + len(found)))
            first = found[-1] + 1
        assert answer.status_code in (200, 410), answer.content
        return first

    works = [trim, trim, lambda: merge.merge_topic(topic), lambda: merge.merge_topic(topic), let_go, let_go, read]
    publish(api, topic, 20)
    threads = [threading.Thread(target=repeated, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for number in range(40):
        publish(api, topic, 20, start=20 + 20 * number)
    stop.set()
    for thread in threads:
        thread.join(60)
    assert failed == []
    sweep(topic)
    assert reconcile.reconcile_topic(topic) == 0 and Sweep.objects.get(topic=topic).problems == []
    assert sql("SELECT count(*) FROM segment_leaving WHERE topic_id = %s", topic.id)[0][0] > 0
    assert read() == 820
