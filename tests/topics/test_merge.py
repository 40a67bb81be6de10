"""Small segments become one, and everything that looks at segments agrees with it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command

from apps.access.models import Audit
from apps.console import metrics
from apps.leases.operations import retain
from apps.topics.cold.cache import forget_opened
from apps.topics.models import DeletedTopic, Repair, Sweep, Topic
from apps.topics.operations import delete, expire, merge, reconcile, spill
from tests.logs import Log, sql
from tests.topics.cold import (
    hot,
    let_leaving_go,
    many_small,
    objects,
    objects_of_hours_ago,
    offsets,
    publish,
    segments_of,
    sweep,
    topic_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folder")]


def records(api, topic, first=0):
    return api.get(f"/v1/topics/{topic.name}/partitions/0/records?from={first}&limit=1000").json()["records"]


def test_small_neighbours_become_one_and_every_page_is_as_before(api, folder):
    topic = many_small(api)
    before = records(api, topic)
    assert merge.merge() == 6
    assert segments_of(topic) == [(0, 29)] and hot(topic) == [30]
    forget_opened()
    assert records(api, topic) == before
    for first in range(0, 31, 4):
        page = api.get(f"/v1/topics/{topic.name}/partitions/0/records?from={first}&limit=7").json()
        assert [record["offset"] for record in page["records"]] == list(range(first, min(first + 7, 31)))
    assert merge.merge_topic(topic) == 0
    row = Sweep.objects.get(topic=topic)
    assert (row.merged_segments, row.merge_error) == (6, "") and row.merged_at is not None


def test_it_keeps_bounds_times_and_figures(api):
    topic = many_small(api)
    place = f"/v1/topics/{topic.name}/bounds"
    figures = "SELECT min(first_at), max(last_at), sum(records), sum(raw_bytes) FROM segment WHERE topic_id = %s"
    before = api.get(place).json(), sql(figures, topic.id)
    merge.merge_topic(topic)
    assert (api.get(place).json(), sql(figures, topic.id)) == before
    assert reconcile.reconcile_topic(topic) == 0 and Sweep.objects.get(topic=topic).problems == []


def test_sources_go_after_the_grace_period_and_who_found_them_before_reads_on(api, folder):
    topic = many_small(api)
    window = merge._found(topic)[0]
    merge.merge_topic(topic)
    assert expire.delete_forgotten() == 0 and len(objects(folder / "segments")) == 7
    assert merge.put(topic, window).name in {path.relative_to(folder).as_posix() for path in objects(folder / "segments")}
    objects_of_hours_ago(folder)
    assert reconcile.reconcile_topic(topic) == 0  # they are no orphans
    assert let_leaving_go(topic) == 6 and len(objects(folder / "segments")) == 1
    assert sql("SELECT count(*) FROM segment_leaving") == [(0,)]
    forget_opened()
    assert offsets(api, topic) == list(range(31))


def test_two_merges_at_once_change_the_index_once(api, folder):
    topic = many_small(api)
    window = merge._found(topic)[0]
    first, second = merge.put(topic, window), merge.put(topic, window[:4])
    assert merge.swap(topic, window, first) is True
    assert merge.swap(topic, window[:4], second) is False
    assert segments_of(topic) == [(0, 29)]
    objects_of_hours_ago(folder)
    assert reconcile.reconcile_topic(topic) == 1  # the other one's object is an orphan
    let_leaving_go(topic)
    forget_opened()
    assert offsets(api, topic) == list(range(31)) and len(objects(folder / "segments")) == 1


def test_a_segment_that_was_let_go_of_meanwhile_is_not_merged(api):
    topic = many_small(api)
    window = merge._found(topic)[0]
    written = merge.put(topic, window)
    retain.let_go(topic.id, 0, 0, 5)
    assert merge.swap(topic, window, written) is False
    assert offsets(api, topic) == list(range(5, 31))


def test_letting_go_stops_before_a_segment_that_was_merged_across_its_end_meanwhile(api):
    topic = many_small(api)
    merge.merge_topic(topic)
    assert retain.let_go(topic.id, 0, 0, 10) == 0  # ten was the end of a segment when it was looked up
    assert offsets(api, topic) == list(range(31))
    assert reconcile.reconcile_topic(topic) == 0 and Sweep.objects.get(topic=topic).problems == []
    assert retain.let_go(topic.id, 0, 0, 30) == 1
    assert offsets(api, topic) == [30]


def test_merged_segments_expire_as_a_whole_and_readers_in_the_way_are_told(api):
    topic = many_small(api, cold_seconds=86_400, on_lag="expire")
    Topic.objects.filter(id=topic.id).update(cold_seconds=None)
    topic.refresh_from_db()
    merge.merge_topic(topic)
    Topic.objects.filter(id=topic.id).update(cold_seconds=86_400)
    reader = Log(topic).consumer()
    assert retain.retain() == 1
    assert offsets(api, topic) == [30] and reader.unsettled() == 30
    sql("UPDATE segment SET forgotten_at = forgotten_at - interval '1 hour' WHERE topic_id = %s", topic.id)
    assert expire.delete_forgotten() == 1


def test_an_operator_lets_go_of_merged_segments_too(api):
    topic = many_small(api)
    merge.merge_topic(topic)
    before = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert api.post(f"/v1/topics/{topic.name}/expire-cold", {"before": before}).json() == {"segments": 1}
    assert offsets(api, topic) == [30] and Audit.objects.filter(verb="expire-cold", object_name=topic.name).exists()


def test_a_damaged_or_missing_source_is_reported_and_the_index_left_as_it_is(api, folder):
    topic, other = many_small(api), many_small(api)
    path = objects(folder / "segments" / str(topic.uid))[2]
    content = path.read_bytes()
    for damaged in (content[:-1] + b"?", None):
        path.write_bytes(damaged) if damaged else path.unlink()
        assert merge.merge_topic(topic) == 0 and len(segments_of(topic)) == 6
        assert Sweep.objects.get(topic=topic).merge_error
    assert merge.merge() == 6 and segments_of(other) == [(0, 29)]
    path.write_bytes(content)
    assert merge.merge_topic(topic) == 6 and Sweep.objects.get(topic=topic).merge_error == ""


def test_the_topics_page_and_the_metrics_say_what_was_merged(api, client, django_user_model, monkeypatch):
    topic = many_small(api)
    merge.merge_topic(topic)
    monkeypatch.setattr(metrics, "_looked_at", -1e9)
    assert f'towpath_merged_segments_total{{topic="{topic.name}"}} 6.0' in metrics.exposition().decode()
    client.force_login(django_user_model.objects.create_superuser("root", password="x" * 12))
    page = client.get(f"/admin/topics/topic/{topic.pk}/change/").content.decode()
    assert "6 small segments were merged" in page
    assert client.get(f"/admin/topics/topic/{topic.pk}/events/0/17/").status_code == 200


def test_an_export_goes_through_merged_segments(api, tmp_path):
    topic = many_small(api)
    call_command("export_topic", topic.name, tmp_path / "before.jsonl")
    merge.merge_topic(topic)
    let_leaving_go(topic)
    forget_opened()
    call_command("export_topic", topic.name, tmp_path / "after.jsonl")
    assert (tmp_path / "after.jsonl").read_bytes() == (tmp_path / "before.jsonl").read_bytes()


def test_an_object_that_is_about_to_go_is_not_entered_in_the_index(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    spill.put(topic, 0, spill.read_over(topic, 0))  # and killed
    objects_of_hours_ago(folder)
    sql("INSERT INTO topic_sweep (topic_id, swept_at, failures, error, problems, merged_segments, merge_error)"
        " VALUES (%s, now(), 0, '', '[]', 0, '')", topic.id)  # fmt: skip
    assert reconcile.reconcile_topic(topic) == 1
    assert sweep(topic) == 0 and hot(topic) == list(range(20))  # its object is there, but for how long?
    assert let_leaving_go(topic) == 1 and objects(folder / "segments") == []
    assert sweep(topic) == 19 and offsets(api, topic) == list(range(20))


def test_an_object_that_was_entered_just_as_it_was_noted_stays(api, folder):
    topic = many_small(api)
    (kept, *_) = sql("SELECT partition, first_offset, locator FROM segment WHERE topic_id = %s ORDER BY 2", topic.id)
    sql("INSERT INTO segment_leaving VALUES (%s, %s, %s, %s, now() - interval '1 day')", topic.id, *kept)
    assert expire.delete_forgotten() == 0
    assert (folder / kept[2]).exists() and sql("SELECT count(*) FROM segment_leaving") == [(0,)]


def test_what_was_read_back_long_ago_is_not_trusted(api, monkeypatch):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    rows = spill.read_over(topic, 0)
    written = spill.put(topic, 0, rows)
    monkeypatch.setattr(spill, "TRUSTED_SECONDS", 0)
    assert spill.commit(topic, 0, rows, written) is False and hot(topic) == list(range(20))


def deleted(api, topic):
    assert api.delete(f"/v1/topics/{topic.name}").status_code == 204
    delete.sweep_deleted()
    DeletedTopic.objects.update(removed_at=datetime.now(UTC) - timedelta(hours=3))


def test_orphans_of_a_deleted_topic_go_and_those_of_its_successor_stay(api, folder):
    topic = topic_of(api, hot_records=1)
    publish(api, topic, 20)
    spill.put(topic, 0, spill.read_over(topic, 0))
    deleted(api, topic)
    made = api.post("/v1/topics", {"name": topic.name, "partitions": 1}).json()
    newer = Topic.objects.get(uid=made["id"])
    Topic.objects.filter(id=newer.id).update(hot_records=1)
    publish(api, newer, 20)
    assert sweep(newer) == 19 and len(objects(folder / "segments")) == 2
    assert reconcile.reconcile() == 0 and DeletedTopic.objects.exists()  # younger than an hour
    objects_of_hours_ago(folder)
    assert reconcile.reconcile() == 1 and len(objects(folder / "segments")) == 2
    assert Repair.objects.get(topic_id=topic.id).kind == "orphan"
    assert let_leaving_go(topic) == 1
    (path,) = objects(folder / "segments")
    assert str(newer.uid) in str(path) and offsets(api, newer) == list(range(20))
    assert reconcile.reconcile() == 0 and not DeletedTopic.objects.exists()


def test_a_topic_deleted_between_merging_and_letting_go_leaves_nothing(api, folder):
    topic = many_small(api)
    merge.merge_topic(topic)
    deleted(api, topic)
    assert len(objects(folder / "segments")) == 6
    assert let_leaving_go(topic) == 6 and objects(folder / "segments") == []
    assert reconcile.reconcile() == 0 and not DeletedTopic.objects.exists()


def test_the_folder_of_a_topic_that_this_installation_never_had_is_left_alone(api, folder):
    foreign = folder / "segments" / "01936f00-0000-7000-8000-000000000000" / "000" / "x.jsonl.zst"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"another installation's")
    objects_of_hours_ago(folder)
    reconcile.reconcile()
    expire.delete_forgotten()
    assert foreign.exists()
