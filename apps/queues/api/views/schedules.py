"""Schedules: make, list, change, delete, run now, next times."""

from functools import partial

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.queues.api.filters import ScheduleFilter
from apps.queues.api.schemas import events
from apps.queues.api.schemas import schedules as schemas
from apps.queues.api.views.queues import allowed_queue
from apps.queues.models import Schedule
from apps.queues.operations import schedules as operations
from apps.queues.operations.firing import rule_of
from apps.queues.timetable import next_times
from core import http, pages, parse
from core.clock import rfc3339
from core.errors import NotFound
from core.names import as_uuid
from core.openapi import answered, filters_of, page_of, problem, query_of, sent
from core.sql import database_time

EXAMPLE = {
    "id": "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11",
    "name": "nightly-report",
    "queue": "reports",
    "payload": {"kind": "daily"},
    "cron": "30 2 * * *",
    "everySeconds": None,
    "at": None,
    "timeZone": "Europe/Berlin",
    "enabled": True,
    "misfire": "fire-once",
    "lastDueAt": None,
    "missed": 0,
    "error": "",
    "createdAt": "2026-11-29T12:00:00.000000Z",
    "updatedAt": "2026-11-29T12:00:00.000000Z",
}
NEW = {name: EXAMPLE[name] for name in ("queue", "name", "payload", "cron", "timeZone")}


def allowed_schedule(request: Request, scope: str, schedule: str) -> Schedule:
    """By name or id, if the token's patterns reach its name and its queue's. Raises NotFound."""
    uid = as_uuid(schedule)
    found = Schedule.objects.select_related("queue").filter(queue__deleted_at=None)
    one = found.filter(uid=uid).first() if uid else found.filter(name=schedule).first()
    if one is None:
        raise NotFound("There is no such schedule.")
    caller(request).require(scope, one.name, one.queue.name)
    return one


class Schedules(APIView):
    scopes = {"GET": "read:queues", "POST": "write:queues"}

    @extend_schema(
        operation_id="list_schedules",
        parameters=query_of(pages.Page) + filters_of(ScheduleFilter),
        responses={200: page_of(schemas.Schedule)},
    )
    def get(self, request: Request) -> HttpResponse:
        """Schedules in the order of their names."""
        allowed = caller(request).named("read:queues") & caller(request).named("read:queues", "queue__name")
        found = Schedule.objects.select_related("queue").filter(allowed, queue__deleted_at=None)
        show = partial(schemas.shown, now=database_time())
        return http.answer(request._request, pages.listing(request._request, found, "name", show, ScheduleFilter))

    @extend_schema(
        operation_id="make_schedule",
        request=schemas.MakeSchedule,
        responses={201: schemas.Schedule, 409: problem("NAME_TAKEN")},
        examples=[sent("Every night", NEW), answered("Made", EXAMPLE, status=201)],
    )
    def post(self, request: Request) -> HttpResponse:
        """Makes a schedule by exactly one of `cron` (five fields), `everySeconds` (a grid from now) and `at`."""
        body = parse.body(request._request, schemas.MakeSchedule)
        caller(request).require("write:queues", body.name)
        queue = allowed_queue(request, "write:queues", body.queue)
        schedule = operations.create(caller(request), queue.id, body.name, **schemas.settings_of(body))
        location = {"Location": f"/v1/schedules/{schedule.uid}"}
        return http.answer(request._request, schemas.shown(schedule, database_time()), 201, location)


class OneSchedule(APIView):
    scopes = {"GET": "read:queues", "PATCH": "write:queues", "DELETE": "write:queues"}

    @extend_schema(
        operation_id="get_schedule", responses={200: schemas.Schedule}, examples=[answered("A schedule", EXAMPLE)]
    )
    def get(self, request: Request, schedule: str) -> HttpResponse:
        """The schedule."""
        return http.answer(
            request._request, schemas.shown(allowed_schedule(request, "read:queues", schedule), database_time())
        )

    @extend_schema(
        operation_id="change_schedule",
        request=schemas.ChangeSchedule,
        responses={200: schemas.Schedule},
        examples=[sent("Earlier", {"cron": "30 1 * * *"}), sent("Off", {"enabled": False}), answered("Changed", EXAMPLE)],
    )
    def patch(self, request: Request, schedule: str) -> HttpResponse:
        """Changes it and takes back what is not due yet; never fires because of the change."""
        found = allowed_schedule(request, "write:queues", schedule)
        body = parse.body(request._request, schemas.ChangeSchedule)
        changed = operations.change(caller(request), found.id, **schemas.settings_of(body))
        return http.answer(request._request, schemas.shown(changed, database_time()))

    @extend_schema(operation_id="delete_schedule", responses={200: None})
    def delete(self, request: Request, schedule: str) -> HttpResponse:
        """Deletes it and takes back what is not due yet."""
        operations.delete(caller(request), allowed_schedule(request, "write:queues", schedule).id)
        return http.no_content(request._request)


class RunNow(APIView):
    scopes = {"POST": "write:queues"}

    @extend_schema(operation_id="run_schedule_now", request=None, responses={200: events.Enqueued})
    def post(self, request: Request, schedule: str) -> HttpResponse:
        """Enqueues one event at once, also of a disabled schedule; its times stay as they are."""
        found = allowed_schedule(request, "write:queues", schedule)
        return http.answer(request._request, events.enqueued(operations.run_now(caller(request), found.id)))


class NextTimes(APIView):
    scopes = {"GET": "read:queues"}

    @extend_schema(
        operation_id="next_times_of_schedule",
        parameters=query_of(schemas.NextQuery),
        responses={200: schemas.NextTimes},
        examples=[answered("Two nights", {"items": ["2026-11-30T01:30:00.000000Z", "2026-12-01T01:30:00.000000Z"]})],
    )
    def get(self, request: Request, schedule: str) -> HttpResponse:
        """The next times it is due, whether or not it is enabled."""
        found = allowed_schedule(request, "read:queues", schedule)
        count = parse.query(request._request, schemas.NextQuery).count
        times = next_times(rule_of(found), database_time(), count)
        return http.answer(request._request, {"items": [rfc3339(moment) for moment in times]})
