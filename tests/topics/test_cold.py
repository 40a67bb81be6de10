"""Cold storage: what leaves the hot window is read at the same offsets, whatever the store does meanwhile."""

import json
import resource
import subprocess
import threading
from shutil import which

import pytest
import zstandard
from obstore.exceptions import AlreadyExistsError, GenericError

from apps.console import metrics
from apps.leases.operations import retain
from apps.topics.cold import store
from apps.topics.cold.cache import forget_opened
from apps.topics.models import Sweep
from apps.topics.operations import spill
from apps.topics.operations.delete import sweep_deleted
from core.sequence import sequence
from tests.concurrency.sessions import in_background
from tests.logs import sql
from tests.patience import PATIENCE
from tests.topics.cold import hot, objects, publish, sweep, topic_of, use_store

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder")]


def browse(api, topic, first, limit=1000):
    answer = api.get(f"/v1/topics/{topic.name}/partitions/0/records", {"from": first, "limit": limit})
    return answer.json() if answer.status_code == 200 else answer


def test_what_is_over_the_hot_bound_is_cold_and_every_page_across_the_seam_is_as_before(api, folder):
    topic = topic_of(api, hot_records=10)
    publish(api, topic, 40)
    before = browse(api, topic, 0)
    assert sweep(topic) == 30
    publish(api, topic, 5, start=40)
    assert hot(topic) == list(range(30, 45))
    assert browse(api, topic, 0)["records"][:40] == before["records"]
    for first in range(46):
        page = browse(api, topic, first, 7)
        assert [record["offset"] for record in page["records"]] == list(range(first, min(first + 7, 45)))
        assert page["lag"] == 45 - page["nextOffset"]
    bounds = api.get(f"/v1/topics/{topic.name}/bounds").json()[0]
    assert (bounds["oldestOffset"], bounds["hotOffset"], bounds["nextOffset"]) == (0, 30, 45)
    assert bounds["replayableSince"] == before["records"][0]["appendedAt"]


def test_a_partition_that_is_wholly_cold_goes_on_at_its_head(api):
    topic = topic_of(api, hot_seconds=60)
    publish(api, topic, 5)
    sql("UPDATE event SET appended_at = appended_at - interval '1 hour' WHERE topic_id = %s", topic.id)
    assert sweep(topic) == 5 and hot(topic) == []
    publish(api, topic, 5)  # all known: their keys outlive the hot window
    publish(api, topic, 1, start=5)
    assert [record["offset"] for record in browse(api, topic, 3)["records"]] == [3, 4, 5]


def test_a_repeat_is_known_while_the_first_is_cold_and_when_retention_has_taken_it(api):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    assert sweep(topic) == 19
    sent = {"specversion": "1.0", "id": "k3", "source": "/s", "type": "t", "partitionkey": "k", "data": "another body"}
    for _ in range(2):
        answer = api.post(f"/v1/topics/{topic.name}/events", sent).json()
        assert answer["events"] == [{"id": "k3", "sequence": sequence(0, 3), "duplicate": True}]
        retain.let_go(topic.id, 0, 0, 19)
    assert browse(api, topic, 3).status_code == 410


def test_an_offset_from_a_topics_previous_life_is_refused_and_nothing_starts_anew_in_silence(api):
    topic = topic_of(api)
    publish(api, topic, 20)
    assert api.delete(f"/v1/topics/{topic.name}").status_code == 204
    api.post("/v1/topics", {"name": topic.name, "partitions": 1})
    publish(api, topic, 10)
    place = f"/v1/topics/{topic.name}/partitions/0"
    assert api.get(f"{place}/records?from=20").status_code == 400
    refused = api.post(f"{place}/commit", {"group": "g", "offset": 20})
    assert refused.status_code == 400 and refused.json()["error"]["details"]["nextOffset"] == 10
    assert [record["offset"] for record in api.get(f"{place}/consume?group=g").json()["records"]] == list(range(10))


def test_bytes_are_a_bound_too(api):
    topic = topic_of(api, hot_bytes=20_000)
    publish(api, topic, 50, data="x" * 1_000)
    assert sweep(topic) > 25
    load = api.get(f"/v1/topics/{topic.name}/load").json()[0]
    assert load["hotBytes"] <= 20_000 + 1_500  # within one event


def test_a_busy_partition_writes_no_object_until_it_is_worth_one(api, folder):
    topic = topic_of(api, hot_records=100)
    publish(api, topic, 109)
    assert sweep(topic) == 0 and objects(folder) == []
    publish(api, topic, 1, start=109)
    assert sweep(topic) == 10


def test_a_stranger_reads_a_segment_with_zstd_and_json(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 12)
    sweep(topic)
    (path,) = objects(folder / "segments")
    content = subprocess.check_output(["zstdcat", path]) if which("zstdcat") else zstandard.decompress(path.read_bytes())
    header, *events = map(json.loads, content.splitlines())
    assert (header["firstOffset"], header["lastOffset"], header["records"]) == (0, 10, 11)
    assert events[3]["offset"] == 3 and json.loads(events[3]["body"])["data"] == {"n": 3}
    assert path.name.startswith(f"{0:020d}-{10:020d}-")


def test_a_group_reads_on_across_the_seam(api):
    topic = topic_of(api, hot_records=3)
    publish(api, topic, 20)
    sweep(topic)
    place, read = f"/v1/topics/{topic.name}/partitions/0", []
    while True:
        page = api.get(f"{place}/consume", {"group": "g", "limit": 6}).json()
        if not page["records"]:
            break
        read += [record["offset"] for record in page["records"]]
        api.post(f"{place}/commit", {"group": "g", "offset": page["nextOffset"]})
    assert read == list(range(20))


def test_a_failing_store_leaves_the_rows_and_reports_the_sweep_as_failing(api, folder, monkeypatch):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    folder.parent.joinpath("cold").write_text("no folder")
    assert sweep(topic) == 0 and sweep(topic) == 0
    assert hot(topic) == list(range(20))
    report = Sweep.objects.get(topic=topic)
    assert report.failures == 2 and report.error and report.succeeded_at is None
    publish(api, topic, 1, start=20)
    folder.unlink()
    assert sweep(topic) == 20
    assert Sweep.objects.get(topic=topic).failures == 0


def test_a_full_store_leaves_the_rows_and_reports_the_sweep_as_failing(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))  # no file of this process grows beyond a byte
    try:
        assert sweep(topic) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert hot(topic) == list(range(20)) and Sweep.objects.get(topic=topic).failures == 1
    publish(api, topic, 1, start=20)
    assert sweep(topic) == 20


@pytest.mark.django_db(transaction=True)
def test_while_the_store_is_slow_events_are_appended_and_read(api, folder, monkeypatch):
    topic, asked, answers = topic_of(api, hot_records=1), threading.Event(), threading.Event()
    publish(api, topic, 20)
    put = store.obstore.put

    def slow_put(*arguments, **options):
        asked.set()
        assert answers.wait(PATIENCE)
        return put(*arguments, **options)

    monkeypatch.setattr(store.obstore, "put", slow_put)
    with in_background(lambda: sweep(topic)) as sweeping:
        assert asked.wait(PATIENCE)
        publish(api, topic, 5, start=20)
        assert [record["offset"] for record in browse(api, topic, 0)["records"]] == list(range(25))
        answers.set()
        assert sweeping.result(PATIENCE) == 19
    assert [record["offset"] for record in browse(api, topic, 0)["records"]] == list(range(25))


def test_a_damaged_or_missing_object_is_an_error_and_never_a_hole(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    sweep(topic)
    (path,) = objects(folder / "segments")
    content = path.read_bytes()
    for damaged in (content[:-1] + b"?", None):
        path.write_bytes(damaged) if damaged else path.unlink()
        forget_opened()
        assert browse(api, topic, 0).status_code == 503
        assert browse(api, topic, 19)["records"]


class Replies:
    """The store, with its first answers replaced."""

    def __init__(self, *replies):
        self.replies, self.real = list(replies), store.obstore.put

    def __call__(self, *arguments, **options):
        reply = self.replies.pop(0) if self.replies else None
        if reply is not None and reply.lands:
            self.real(*arguments, **options)
        if reply is not None:
            raise reply.error
        return self.real(*arguments, **options)


class Reply:
    def __init__(self, error, lands):
        self.error, self.lands = error, lands


def put_with(monkeypatch, *replies):
    store.put_if_absent("warm/up", b"1")
    monkeypatch.setattr(store, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(store.obstore, "put", Replies(*replies))
    store.put_if_absent("a/name", b"content")
    assert store.get("a/name") == b"content"


def test_a_conflict_after_which_nothing_is_there_is_tried_again(monkeypatch):
    put_with(monkeypatch, Reply(AlreadyExistsError("409"), lands=False))


def test_a_write_that_landed_though_its_answer_was_lost_is_a_success(monkeypatch):
    put_with(monkeypatch, Reply(GenericError("connection reset"), lands=True))


def test_the_same_object_again_is_a_success_and_another_one_under_its_name_an_error():
    store.put_if_absent("a/name", b"content")
    store.put_if_absent("a/name", b"content")
    with pytest.raises(store.StoreFailed, match="Another object"):
        store.put_if_absent("a/name", b"other")


def test_a_store_that_overwrites_what_it_should_keep_is_refused(monkeypatch, tmp_path):
    use_store(tmp_path / "careless")
    real = store.obstore.put
    monkeypatch.setattr(store.obstore, "put", lambda *arguments, **options: real(*arguments, use_multipart=False))
    with pytest.raises(store.StoreFailed, match="overwrites"):
        store.put_if_absent("a/name", b"content")


def test_two_sweeps_of_one_range_leave_each_event_once(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    first = spill.read_over(topic, 0)
    publish(api, topic, 20, start=20)
    second = spill.read_over(topic, 0)
    writes = [spill.put(topic, 0, rows) for rows in (first, second)]
    assert spill.commit(topic, 0, second, writes[1]) is True
    assert spill.commit(topic, 0, first, writes[0]) is False
    assert [record["offset"] for record in browse(api, topic, 0)["records"]] == list(range(40))
    assert len(objects(folder / "segments")) == 2  # one of them an orphan


def test_objects_of_a_deleted_topic_go_with_its_rows(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    sweep(topic)
    assert api.delete(f"/v1/topics/{topic.name}").status_code == 204
    sweep_deleted()
    assert objects(folder / "segments") == []
    assert sql("SELECT count(*) FROM segment WHERE topic_id = %s", topic.id) == [(0,)]


def test_the_metrics_say_what_is_hot_cold_and_failing(api, monkeypatch):
    topic = topic_of(api, hot_records=5)
    publish(api, topic, 20)
    sweep(topic)
    Sweep.objects.filter(topic=topic).update(failures=3)
    monkeypatch.setattr(metrics, "_looked_at", -1e9)
    text = metrics.exposition().decode()
    for name, value in (("hot_records", 5.0), ("cold_records", 15.0), ("spill_failures", 3.0)):
        assert f'towpath_{name}{{topic="{topic.name}"}} {value}' in text


def swept_again(api, topic, folder):
    """What a second and a third run leave: everything once, one object, nothing more to do."""
    assert [sweep(topic), sweep(topic)] == [19, 0]
    assert hot(topic) == [19] and len(objects(folder / "segments")) == 1
    assert [record["offset"] for record in browse(api, topic, 0)["records"]] == list(range(20))


@pytest.mark.parametrize("lands", [False, True])
def test_a_sweep_that_is_killed_around_its_write_is_made_up_for_by_the_next(api, folder, monkeypatch, lands):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    store.put_if_absent("warm/up", b"1")
    monkeypatch.setattr(store.obstore, "put", Replies(Reply(KeyboardInterrupt(), lands=lands)))
    with pytest.raises(KeyboardInterrupt):
        sweep(topic)
    assert hot(topic) == list(range(20)) and len(browse(api, topic, 0)["records"]) == 20
    swept_again(api, topic, folder)


def test_a_sweep_that_ends_between_removing_rows_and_entering_their_segment_has_removed_none(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    sql("ALTER TABLE segment ADD CONSTRAINT nothing_more CHECK (false) NOT VALID")
    assert sweep(topic) == 0
    assert hot(topic) == list(range(20)) and len(browse(api, topic, 0)["records"]) == 20
    sql("ALTER TABLE segment DROP CONSTRAINT nothing_more")
    swept_again(api, topic, folder)
