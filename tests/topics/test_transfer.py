"""History out of one topic and into another, whatever file it goes through, and on after a break."""

import json

import pytest
from django.core.management import CommandError, call_command

from apps.topics import transfer
from apps.topics.models import Topic
from apps.topics.operations import create, import_part
from apps.topics.selectors import resolve
from core.errors import Conflict
from core.ids import uuid7
from tests.topics.cold import publish, sweep, topic_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(folder):
    """The one above that of cold storage: for what is written beside it."""
    return folder.parent


@pytest.fixture
def world(api):
    topic = topic_of(api, partitions=3, hot_records=20)
    for key in "abc":
        publish(api, topic, 300, key=key)
    odd = [{"partitionKey": "é", "payload": 'two\nlines "q"', "key": "k1"}, {"partitionKey": "", "payload": "no key"}]
    assert api.post(f"/v1/topics/{topic.name}/records", odd).status_code == 202
    assert sweep(topic) > 700
    return topic


def everything(api, name, partitions=3):
    found = []
    for number in range(partitions):
        first = 0
        while records := api.get(f"/v1/topics/{name}/partitions/{number}/records?from={first}").json()["records"]:
            found += [(number, each["offset"], each.get("key"), each["body"]["partitionKey"], each["body"]["payload"])
                      for each in records]  # fmt: skip
            first = records[-1]["offset"] + 1
    return found


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.zst", "out.jsonl.gz"])
def test_what_goes_out_comes_in_at_the_same_places_unchanged(api, world, folder, name):
    call_command("export_topic", world.name, folder / name)
    copy = f"copy-{uuid7()}"
    api.post("/v1/topics", {"name": copy, "partitions": 3})
    call_command("import_topic", copy, folder / name)
    assert everything(api, copy) == everything(api, world.name)
    assert sorted(path.name for path in folder.iterdir() if "progress" in path.name) == []


def test_lines_are_cloudevents(world, folder):
    call_command("export_topic", world.name, folder / "out.jsonl")
    events = [json.loads(line) for line in (folder / "out.jsonl").read_bytes().splitlines()]
    assert len(events) == 902 and all(event["specversion"] == "1.0" and event["sequence"] for event in events)


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.zst", "out.jsonl.gz"])
def test_an_export_that_was_broken_off_goes_on_and_ends_as_if_it_had_not_been(world, folder, name, monkeypatch):
    monkeypatch.setattr(transfer, "PART", 70)
    call_command("export_topic", world.name, folder / name)
    whole = (folder / name).read_bytes()

    def stop(done, total):
        if done > 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transfer.write_history(resolve.topic(world.name), folder / f"b-{name}", stop)
    with (folder / f"b-{name}").open("ab") as file:
        file.write(b"half a part")
    call_command("export_topic", world.name, folder / f"b-{name}")
    assert (folder / f"b-{name}").read_bytes() == whole


def test_an_import_that_was_broken_off_goes_on_behind_what_is_in(api, world, folder, monkeypatch):
    monkeypatch.setattr(transfer, "PART", 100)
    call_command("export_topic", world.name, folder / "out.jsonl.zst")
    copy = f"copy-{uuid7()}"
    api.post("/v1/topics", {"name": copy, "partitions": 3})
    topic = resolve.fresh_topic(copy)
    row = import_part.begin(topic, transfer.digest(folder / "out.jsonl.zst"))
    batches = transfer.read_history(folder / "out.jsonl.zst", 0, lambda done, total: None)
    for _ in range(4):
        import_part.import_part(topic, row, *next(batches))
    batches.close()
    call_command("import_topic", copy, folder / "out.jsonl.zst")
    assert everything(api, copy) == everything(api, world.name)


def unkeyed(folder, count=30):
    """Records that nothing but the order of their lines tells apart."""
    lines = [
        {"specversion": "1.0", "id": "x", "source": "/s", "type": "towpath.record", "partitionkey": "k", "data": "same"}
    ]
    (folder / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines * count))
    return folder / "in.jsonl"


def test_a_file_that_is_in_is_not_imported_again_unless_it_is_asked_for(api, folder, capsys):
    file, name = unkeyed(folder), f"t-{uuid7()}"
    for _ in range(2):
        call_command("import_topic", name, file)
        assert len(everything(api, name, 8)) == 30
    assert "is in" in capsys.readouterr().out
    call_command("import_topic", name, file, "--again")
    assert len(everything(api, name, 8)) == 60


def test_the_same_file_into_another_topic_or_a_topic_made_again_is_another_import(api, folder):
    file, name = unkeyed(folder), f"t-{uuid7()}"
    for each in (name, f"{name}-b"):
        call_command("import_topic", each, file)
        assert len(everything(api, each, 8)) == 30
    assert api.delete(f"/v1/topics/{name}").status_code == 204
    call_command("import_topic", name, file)
    assert len(everything(api, name, 8)) == 30


def test_of_two_imports_of_one_file_the_later_gives_up_and_nothing_is_in_twice(api, folder, monkeypatch):
    monkeypatch.setattr(transfer, "PART", 20)
    file, name = unkeyed(folder), f"t-{uuid7()}"
    topic = create.topic_for_use(name)
    one, other = (import_part.begin(topic, transfer.digest(file)) for _ in range(2))
    parts = [list(transfer.read_history(file, 0, lambda done, total: None)) for _ in range(2)]
    import_part.import_part(topic, one, *parts[0][0])
    with pytest.raises(Conflict, match="Another process imports this file"):
        import_part.import_part(topic, other, *parts[1][0])
    call_command("import_topic", name, file)
    assert len(everything(api, name, 8)) == 30


def test_an_import_waits_for_a_quota_and_loses_nothing(api, folder, monkeypatch):
    monkeypatch.setattr(transfer, "PART", 20)
    file, name = unkeyed(folder), f"t-{uuid7()}"
    api.post("/v1/topics", {"name": name, "partitions": 1, "maxHotRecords": 15, "retention": {"hot": {"records": 1}}})
    topic = Topic.objects.get(name=name)
    monkeypatch.setattr(import_part.time, "sleep", lambda seconds: sweep(topic))
    call_command("import_topic", name, file)
    assert [offset for _, offset, *_ in everything(api, name, 1)] == list(range(30))


def test_an_event_over_its_size_is_named_as_such_and_the_part_left_out(api, folder, settings):
    settings.TOWPATH = {**settings.TOWPATH, "MAX_EVENT_BYTES": 100}
    with pytest.raises(CommandError, match="100 bytes"):
        (folder / "in.jsonl").write_text(
            '{"specversion":"1.0","id":"1","source":"/s","type":"t","data":"%s"}\n' % ("x" * 200)
        )
        call_command("import_topic", f"t-{uuid7()}", folder / "in.jsonl")


def test_a_line_that_is_no_event_is_named(api, folder):
    (folder / "in.jsonl").write_text('{"specversion":"1.0","id":"1","source":"/s","type":"t"}\n{"no": "event"}\n')
    with pytest.raises(CommandError, match="up to line 2"):
        call_command("import_topic", f"t-{uuid7()}", folder / "in.jsonl")
