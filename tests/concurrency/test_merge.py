"""Merging killed at each step and run again, and letting go of what was merged: each offset is there once, in order."""

import pytest

from apps.topics.cold.cache import forget_opened
from apps.topics.models import Repair, Sweep
from apps.topics.operations import merge, reconcile
from tests.concurrency.killed import killed_after
from tests.factories import Api, api_key
from tests.logs import sql
from tests.topics.cold import (
    let_leaving_go,
    make_old,
    objects,
    objects_of_hours_ago,
    offsets,
    publish,
    segments_of,
    sweep,
    topic_of,
    use_store,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

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


@pytest.fixture(autouse=True)
def folder(tmp_path, settings):
    settings.TOWPATH = dict(settings.TOWPATH)
    use_store(tmp_path / "cold")
    return tmp_path / "cold"


@pytest.fixture
def client(transactional_db):
    return Api(api_key())


@pytest.fixture
def topic(client):
    """Six segments of five events, and one hot event."""
    topic = topic_of(client, hot_records=1, hot_seconds=10**8)
    publish(client, topic, 1)
    for number in range(6):
        publish(client, topic, 5, start=1 + number * 5)
        sweep(topic)
    make_old(topic)
    return topic


def read(client, topic):
    forget_opened()
    return offsets(client, topic)


def clean(client, topic, folder, orphans):
    """What a reconcile and the grace period leave: what the index names, and nothing else."""
    objects_of_hours_ago(folder)
    assert reconcile.reconcile_topic(topic) == orphans == Repair.objects.filter(topic_id=topic.id, kind="orphan").count()
    let_leaving_go(topic)
    named = {locator for (locator,) in sql("SELECT locator FROM segment WHERE topic_id = %s", topic.id)}
    assert {path.relative_to(folder).as_posix() for path in objects(folder / "segments")} == named
    assert Sweep.objects.get(topic=topic).problems == []
    assert sql("SELECT count(*) FROM segment_leaving") == [(0,)]
    assert read(client, topic) == list(range(EVENTS))


@pytest.mark.parametrize("step", ["looked", "read", "written", "locked", "removed", "indexed", "committed"])
def test_killed_at_a_step_and_run_again_it_loses_nothing_doubles_nothing_and_leaves_no_orphan(client, topic, folder, step):
    killed_after(MERGING, step, topic.id, folder=folder)
    assert read(client, topic) == list(range(EVENTS))
    assert segments_of(topic) == ([(0, 29)] if step == "committed" else [(n, n + 4) for n in range(0, 30, 5)])
    for _ in range(2):
        merge.merge_topic(topic)
        assert segments_of(topic) == [(0, 29)] and read(client, topic) == list(range(EVENTS))
    clean(client, topic, folder, orphans=0)


def test_what_a_killed_merge_wrote_is_an_orphan_when_the_next_one_merges_otherwise(client, topic, folder):
    killed_after(MERGING, "written", topic.id, folder=folder)
    sql("UPDATE segment SET raw_bytes = 8388608 WHERE topic_id = %s AND first_offset = 0", topic.id)
    merge.merge_topic(topic)
    assert segments_of(topic) == [(0, 4), (5, 29)]
    clean(client, topic, folder, orphans=1)


@pytest.mark.parametrize("step", ["found", "half", "deleted", "marked"])
def test_letting_go_of_what_was_merged_is_killed_at_a_step_and_run_again(client, topic, folder, step):
    merge.merge_topic(topic)
    sql("UPDATE segment_leaving SET since = since - interval '1 hour' WHERE topic_id = %s", topic.id)
    killed_after(LETTING_GO, step, folder=folder)
    assert read(client, topic) == list(range(EVENTS))
    clean(client, topic, folder, orphans=0)
    assert len(objects(folder / "segments")) == 1
