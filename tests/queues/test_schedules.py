"""Schedules: what they insert and when, that nothing fires twice, and that an edit fires nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.access.models import Audit
from apps.queues.models import Schedule
from apps.queues.operations import firing
from apps.queues.operations.firing import fire, fire_schedules
from tests.factories import unique
from tests.queues.conftest import data, execute


@pytest.fixture
def schedule(worker):
    """Makes a schedule on the worker's queue and answers it."""

    def make(**fields):
        body = {"queue": worker.queue, "name": unique("schedule"), "payload": {"kind": "tick"}, **fields}
        return data(worker.api.post("/v1/schedules", body), 201)

    return make


def dues() -> list[datetime]:
    return [row[0] for row in execute("SELECT scheduled_at FROM queue_event ORDER BY scheduled_at")]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def outage(now: datetime | None = None, **ago: int) -> None:
    """As if no scheduler had run for that long."""
    execute("DELETE FROM queue_event")
    execute("UPDATE schedule SET planned_until = coalesce(%s, statement_timestamp()) - %s", now, timedelta(**ago))


@pytest.fixture
def now(monkeypatch) -> datetime:
    """The scheduler's clock, which stands still."""
    now = firing.database_time()
    monkeypatch.setattr(firing, "database_time", lambda: now)
    return now


def test_it_shows_every_field_it_takes_with_its_value(schedule, worker):
    made = schedule(cron="30 2 * * *", timeZone="Europe/Berlin")
    expected = {"queue": worker.queue, "payload": {"kind": "tick"}, "cron": "30 2 * * *", "everySeconds": None, "at": None,
                "timeZone": "Europe/Berlin", "enabled": True, "misfire": "fire-once", "error": "", "missed": 0}  # fmt: skip
    assert expected.items() <= made.items()
    for key in (made["id"], made["name"]):
        assert data(worker.api.get(f"/v1/schedules/{key}")) == made


def test_a_grid_fires_from_its_creation_on_and_ahead_of_time(schedule):
    made = schedule(everySeconds=30)
    begin = moment(made["createdAt"])
    assert dues() == [begin + timedelta(seconds=30), begin + timedelta(seconds=60), begin + timedelta(seconds=90)]


def test_the_event_carries_the_time_it_was_due_the_schedule_and_the_payload_as_sent(worker):
    body = f'{{"queue": "{worker.queue}", "name": "s", "payload": {{"b":1.0,  "a":[]}}, "everySeconds": 60}}'
    made = data(worker.api.post("/v1/schedules", body), 201)
    assert worker.claim() is None
    worker.fall_due()
    answer = worker.api.post(f"{worker.path}/claim", {})
    assert b'"payload":{"b":1.0,  "a":[]}' in answer.content
    event = answer.json()["data"]["event"]
    assert event["scheduleId"] == made["id"]
    assert moment(event["scheduledAt"]) == moment(made["createdAt"]) + timedelta(seconds=60)


def test_sweeps_insert_each_due_time_once(schedule):
    made = schedule(everySeconds=10)
    first = dues()
    for _ in range(3):
        fire_schedules()
    begin = moment(made["createdAt"])
    assert dues()[: len(first)] == first
    assert dues() == [begin + timedelta(seconds=10 * n) for n in range(1, len(dues()) + 1)]


def test_what_was_acked_does_not_fire_again(schedule, worker):
    schedule(everySeconds=30)
    worker.fall_due()
    claims = worker.claim(limit=100)["claims"]
    for claim in claims:
        worker.ack(claim)
    fire_schedules()
    assert len(dues()) <= 1


def test_a_single_time_fires_once(schedule, worker):
    at = datetime.now(UTC) + timedelta(seconds=60)
    made = schedule(at=at.isoformat())
    assert dues() == [at]
    worker.fall_due()
    worker.ack(worker.claim())
    execute("UPDATE schedule SET planned_until = planned_until + interval '1 day'")
    fire_schedules()
    assert dues() == []
    execute("UPDATE schedule SET at = at - interval '1 hour'")
    assert data(worker.api.get(f"/v1/schedules/{made['id']}/next"))["items"] == []


def test_several_of_one_instant_all_fire(schedule):
    at = (datetime.now(UTC) + timedelta(seconds=60)).isoformat()
    for _ in range(3):
        schedule(at=at)
    assert len(dues()) == 3


@pytest.mark.parametrize(("misfire", "count"), [("fire-once", 1), ("skip", 0), ("catch-up", 30)])
def test_after_an_outage_the_policy_decides(schedule, worker, now, misfire, count):
    made = schedule(cron="* * * * *", misfire=misfire)
    outage(now, minutes=31)
    fire_schedules()
    late = [due for due in dues() if due < now - timedelta(seconds=60)]
    assert len(late) in (count, count + 1 if misfire == "catch-up" else count)
    shown = data(worker.api.get(f"/v1/schedules/{made['id']}"))
    assert shown["missed"] == (0 if misfire == "catch-up" else shown["missed"])
    assert (shown["missed"] > 0) == (misfire != "catch-up")
    before = dues()
    fire_schedules()
    assert dues() == before


def test_catching_up_stops_at_a_hundred_and_says_how_many_it_dropped(schedule, worker, now):
    made = schedule(everySeconds=1, misfire="catch-up")
    execute("UPDATE schedule SET created_at = created_at - interval '1 day'")
    outage(now, seconds=360)
    fire_schedules()
    assert len([due for due in dues() if due < now - timedelta(seconds=60)]) == 100
    assert data(worker.api.get(f"/v1/schedules/{made['id']}"))["missed"] > 0


def test_disabling_takes_back_what_is_not_due_and_enabling_fires_nothing_at_once(schedule, worker):
    made = schedule(everySeconds=30)
    path = f"/v1/schedules/{made['name']}"
    execute("UPDATE queue_event SET scheduled_at = scheduled_at - interval '1 minute', state = 'ready', due_at = NULL"
            " WHERE n = (SELECT min(n) FROM queue_event)")  # fmt: skip
    assert data(worker.api.patch(path, {"enabled": False}))["enabled"] is False
    assert len(dues()) == 1
    fire_schedules()
    assert len(dues()) == 1
    outage(hours=5)
    data(worker.api.patch(path, {"enabled": True}))
    fire_schedules()
    assert all(due > datetime.now(UTC) for due in dues())
    assert moment(made["createdAt"]) + timedelta(seconds=30) <= dues()[0]


def test_an_edit_moves_the_future_and_fires_nothing_at_once(schedule, worker):
    made = schedule(cron="* * * * *")
    outage(hours=2)
    changed = data(worker.api.patch(f"/v1/schedules/{made['id']}", {"everySeconds": 20, "payload": {"new": 1}}))
    assert (changed["cron"], changed["everySeconds"]) == (None, 20)
    assert all(due > datetime.now(UTC) for due in dues())
    assert execute("SELECT DISTINCT payload FROM queue_event") == [('{"new": 1}',)]


def test_deleting_takes_back_what_is_not_due(schedule, worker):
    made = schedule(everySeconds=30)
    assert data(worker.api.delete(f"/v1/schedules/{made['id']}")) is None
    assert dues() == []
    assert worker.api.get(f"/v1/schedules/{made['id']}").status_code == 404


def test_run_now_adds_one_event_and_moves_nothing(schedule, worker):
    made = schedule(cron="0 0 1 1 *", enabled=False)
    run = data(worker.api.post(f"/v1/schedules/{made['id']}/run-now"))
    event = worker.claim()["event"]
    assert (event["id"], event["scheduleId"], event["payload"]) == (run["id"], made["id"], {"kind": "tick"})
    assert worker.claim() is None


def test_the_next_times_are_what_will_fire(schedule, worker):
    made = schedule(cron="30 2 * * *", timeZone="Europe/Berlin")
    items = data(worker.api.get(f"/v1/schedules/{made['id']}/next"))["items"]
    assert len(items) == 5
    assert all(item.endswith(("00:30:00.000000Z", "01:30:00.000000Z", "01:00:00.000000Z")) for item in items)
    assert len(data(worker.api.get(f"/v1/schedules/{made['id']}/next?count=100"))["items"]) == 100
    for query in ("count=0", "count=101", "count=x", "cuont=5", "count=1&count=2"):
        assert worker.api.get(f"/v1/schedules/{made['id']}/next?{query}").status_code == 400


def test_one_schedules_error_never_stops_the_others(schedule, worker):
    broken, sound = schedule(cron="* * * * *"), schedule(cron="* * * * *")
    Schedule.objects.filter(uid=broken["id"]).update(time_zone="Asia/Gone")
    outage(minutes=1)
    fire_schedules()
    assert execute("SELECT DISTINCT schedule_id::text FROM queue_event") == [(sound["id"],)]
    assert "Asia/Gone" in data(worker.api.get(f"/v1/schedules/{broken['id']}"))["error"]
    fixed = data(worker.api.patch(f"/v1/schedules/{broken['id']}", {"timeZone": "Europe/Berlin"}))
    assert fixed["error"] == ""


def test_a_schedule_ends_with_its_queue(schedule, worker):
    made = schedule(everySeconds=30)
    data(worker.api.delete(worker.path))
    assert worker.api.get(f"/v1/schedules/{made['id']}").status_code == 404
    assert fire_schedules() == 0


def test_a_scheduler_that_computed_before_an_edit_inserts_nothing(schedule, worker):
    made = schedule(everySeconds=30)
    stale = Schedule.objects.get(uid=made["id"])
    data(worker.api.patch(f"/v1/schedules/{made['id']}", {"enabled": False}))
    data(worker.api.patch(f"/v1/schedules/{made['id']}", {"enabled": True, "everySeconds": 60}))
    before = dues()
    Schedule.objects.filter(uid=made["id"]).update(planned_until=stale.planned_until)

    assert fire(stale) == 0
    assert dues() == before


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "cron"),
        ({"cron": "* * * * *", "everySeconds": 5}, "cron"),
        ({"cron": "* * * * * *"}, "cron"),
        ({"cron": "0 0 L * *"}, "cron"),
        ({"cron": "@daily"}, "cron"),
        ({"everySeconds": 0}, "everySeconds"),
        ({"everySeconds": 31_536_001}, "everySeconds"),
        ({"everySeconds": True}, "everySeconds"),
        ({"at": "2020-01-01T00:00:00Z"}, "at"),
        ({"at": "tomorrow"}, "at"),
        ({"cron": "* * * * *", "timeZone": "Foo/Bar"}, "timeZone"),
        ({"cron": "* * * * *", "misfire": "never"}, "misfire"),
        ({"cron": "* * * * *", "payload": []}, "payload"),
        ({"cron": "* * * * *", "name": ".."}, "name"),
        ({"cron": "* * * * *", "every": 5}, "every"),
        ({"cron": "* * * * *", "queue": 5}, "queue"),
    ],
)
def test_what_is_no_schedule_is_refused_and_leaves_nothing(worker, fields, field):
    body = {"queue": worker.queue, "name": "s", "payload": {}, **fields}
    answer = worker.api.post("/v1/schedules", body)
    assert answer.status_code == 400, answer.content
    assert answer.json()["error"]["details"]["field"] == field
    assert execute("SELECT count(*) FROM schedule") == [(0,)]


def test_the_queue_must_exist_and_the_name_be_free(schedule, worker):
    made = schedule(everySeconds=60)
    body = {"queue": worker.queue, "name": made["name"], "payload": {}, "everySeconds": 60}
    assert worker.api.post("/v1/schedules", body).status_code == 409
    assert worker.api.post("/v1/schedules", {**body, "name": "other", "queue": "none"}).status_code == 404


def test_a_patch_is_checked_like_the_making(schedule, worker):
    path = f"/v1/schedules/{schedule(everySeconds=60)['id']}"
    for bad in (
        {"at": "2020-01-01T00:00:00Z"},
        {"cron": "x"},
        {"everySeconds": None},
        {"everySeconds": 1, "cron": "* * * * *"},
        {"queue": "q"},
        {"name": "n"},
    ):
        assert worker.api.patch(path, bad).status_code == 400, bad


def test_a_pattern_has_to_reach_the_schedule_and_its_queue(api, api_with):
    for name in ("orders.q", "billing.q"):
        data(api.post("/v1/event-queues", {"name": name}), 201)
    narrowed = api_with("write:queues orders.*", "read:queues orders.*")

    def make(client, name, queue):
        body = {"queue": queue, "name": name, "payload": {}, "everySeconds": 60}
        return client.post("/v1/schedules", body).status_code

    assert make(narrowed, "orders.s", "orders.q") == 201
    assert make(narrowed, "orders.x", "billing.q") == 404
    assert make(narrowed, "billing.x", "orders.q") == 404
    assert make(api, "orders.foreign", "billing.q") == 201
    assert make(api, "billing.s", "orders.q") == 201
    assert [item["name"] for item in data(narrowed.get("/v1/schedules"))["items"]] == ["orders.s"]
    for hidden in ("orders.foreign", "billing.s"):
        assert narrowed.get(f"/v1/schedules/{hidden}").status_code == 404
        assert narrowed.post(f"/v1/schedules/{hidden}/run-now").status_code == 404
        assert narrowed.delete(f"/v1/schedules/{hidden}").status_code == 404
    assert [item["name"] for item in data(api.get("/v1/schedules?queue=orders.q&enabled=true"))["items"]] == [
        "billing.s",
        "orders.s",
    ]
    for query in ("?enabled=maybe", "?queue=", "?q=1"):
        assert api.get(f"/v1/schedules{query}").status_code == 400


def test_every_change_is_in_the_audit_trail(schedule, worker):
    made = schedule(everySeconds=60)
    path = f"/v1/schedules/{made['id']}"
    data(worker.api.patch(path, {"enabled": False}))
    data(worker.api.post(f"{path}/run-now"))
    data(worker.api.delete(path))
    trail = Audit.objects.filter(object_kind="schedule").order_by("id").values_list("verb", "object_name")
    assert list(trail) == [(verb, made["name"]) for verb in ("create", "change", "run-now", "delete")]


def test_a_purge_takes_what_is_due_and_leaves_the_times_to_come(schedule, worker):
    made = schedule(everySeconds=30)
    begin = moment(made["createdAt"])
    execute("UPDATE queue_event SET state = 'ready', due_at = NULL WHERE scheduled_at = %s", begin + timedelta(seconds=30))
    execute("UPDATE queue_event SET scheduled_at = scheduled_at - interval '1 minute' WHERE state = 'ready'")
    worker.enqueue(delaySeconds=60)
    worker.act("purge")
    assert dues() == [begin + timedelta(seconds=seconds) for seconds in (30, 60, 90)]
    worker.fall_due()
    assert len(worker.api.post(f"{worker.path}/claim", {"limit": 9}).json()["data"]["claims"]) == 3
    shown = data(worker.api.get(f"/v1/schedules/{made['id']}"))
    assert shown["updatedAt"] == made["updatedAt"]


def test_a_purge_while_no_scheduler_runs_leaves_what_was_missed_to_the_misfire_policy(schedule, worker):
    schedule(everySeconds=300)
    outage(minutes=16)
    execute("UPDATE schedule SET created_at = created_at - interval '62 minutes'")
    worker.act("purge")
    assert len([due for due in dues() if due < datetime.now(UTC)]) == 1


def test_a_schedule_that_cannot_be_planned_does_not_keep_its_queue_from_being_purged(schedule, worker):
    schedule(cron="* * * * *")
    execute("UPDATE schedule SET time_zone = 'Gone/Zone'")
    worker.enqueue()
    worker.act("purge")
    assert dues() == []


def test_the_last_due_time_is_never_one_to_come(schedule, worker):
    made = schedule(everySeconds=30)
    assert made["lastDueAt"] is None
    execute("UPDATE schedule SET created_at = created_at - interval '65 seconds', updated_at = updated_at - interval '65 s'")
    fire_schedules()
    shown = data(worker.api.get(f"/v1/schedules/{made['id']}"))
    assert moment(shown["lastDueAt"]) == moment(shown["createdAt"]) + timedelta(seconds=60)


def test_the_last_due_time_is_told_at_every_moment_not_only_when_the_next_are_planned(schedule, worker):
    """Planned are the next 90 s at once; told is what has come, also of a rule that was since edited."""
    made = schedule(everySeconds=5)
    assert made["lastDueAt"] is None
    path = f"/v1/schedules/{made['name']}"
    # As if it had been made, and planned, 62 s ago.
    ago = "statement_timestamp() - interval '62 seconds'"
    execute(f"UPDATE schedule SET created_at = {ago}, updated_at = {ago}, planned_until = {ago} + interval '90 seconds'")
    shown = data(worker.api.get(path))
    late = (moment(shown["lastDueAt"]) - moment(shown["createdAt"])).total_seconds()
    assert late >= 60 and late % 5 == 0
    (listed,) = data(worker.api.get(f"/v1/schedules?name={made['name']}"))["items"]
    assert moment(listed["lastDueAt"]) >= moment(shown["lastDueAt"])
    changed = data(worker.api.patch(path, {"enabled": False}))
    assert moment(changed["lastDueAt"]) >= moment(listed["lastDueAt"])
    assert data(worker.api.get(path))["lastDueAt"] == changed["lastDueAt"]
