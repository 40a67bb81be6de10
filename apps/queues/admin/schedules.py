"""Schedules: when they fire next in their own zone, what came of the last time, and the switch."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from unfold.decorators import display
from unfold.views import ChangeList

from apps.access.models import Audit
from apps.queues.models import Schedule
from apps.queues.operations import schedules as operations
from apps.queues.operations.firing import FAULTS, last_due, rule_of
from apps.queues.timetable import next_times
from core import payloads
from core.admin import NOT_WITH_THIS_ROLE, Action, Button, LookedUpList, RuntimeAdmin, confirm, demand, may, person
from core.sql import database_time
from core.words import ago

PAYLOADS, RUN, SWITCH = "console.view_payloads", "console.redrive", "console.pause"
AUDIT_SHOWN = 20


class ScheduleList(LookedUpList):
    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        """One look at the database's clock for all rows of the page."""
        now = database_time()
        for row in rows:
            row.now = now


@admin.register(Schedule)
class ScheduleAdmin(RuntimeAdmin):
    list_display = ("name", "queue_name", "rule", "time_zone", "state", "next_time", "last")
    list_display_links = ("name",)
    search_fields = ("name",)
    list_filter = ("enabled", "misfire")
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Schedule]:
        return super().get_queryset(request).filter(queue__deleted_at=None).select_related("queue")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # type: ignore[override]
        return ScheduleList

    @display(description="queue", ordering="queue__name")
    def queue_name(self, schedule: Schedule) -> str:
        return schedule.queue.name

    @display(description="rule")
    def rule(self, schedule: Schedule) -> str:
        return said(schedule)

    @display(description="state", label={"failing": "danger", "off": "warning", "on": "success"})
    def state(self, schedule: Schedule) -> str:
        return "failing" if schedule.error else "on" if schedule.enabled else "off"

    @display(description="next")
    def next_time(self, schedule: Any) -> str:
        times, _ = upcoming(schedule, 1, schedule.now)
        return ago(times[0]) if times and schedule.enabled else "never"

    @display(description="last due")
    def last(self, schedule: Any) -> str:
        return ago(last_due(schedule, schedule.now))

    def get_urls(self) -> list[URLPattern]:
        act = path("<int:number>/do/<slug:verb>/", self.admin_site.admin_view(self.act), name="queues_schedule_act")
        return [act, *super().get_urls()]

    def show(self, request: HttpRequest, row: Schedule) -> HttpResponse:
        now = database_time()
        times, fault = upcoming(row, 5, now)
        context = {
            "schedule": row,
            "last_due": last_due(row, now),
            "rule": said(row),
            "times": times,
            "fault": row.error or fault,
            **payloads.viewed(row.payload, may(request, PAYLOADS)),
            "buttons": _buttons(request, row),
            "audit": Audit.objects.filter(object_kind="schedule", object_id=str(row.uid)).order_by("-id")[:AUDIT_SHOWN],
        }
        return self.page(request, "queues/schedule.html", f"Schedule {row.name}", context)

    def act(self, request: HttpRequest, number: int, verb: str) -> HttpResponse:
        schedule = get_object_or_404(self.get_queryset(request), pk=number)
        return act(request, schedule, verb, reverse("admin:queues_schedule_change", args=[number]))


def _buttons(request: HttpRequest, schedule: Schedule) -> list[Button]:
    return [
        Button(
            verb.replace("-", " ").capitalize(),
            reverse("admin:queues_schedule_act", args=[schedule.pk, verb]),
            blocked(schedule) if may(request, permission) else NOT_WITH_THIS_ROLE,
        )
        for verb, (permission, _, blocked, _) in ACTIONS.items()
    ]


def said(schedule: Schedule) -> str:
    if schedule.cron is not None:
        return schedule.cron
    if schedule.every_seconds is not None:
        return f"every {schedule.every_seconds:,} s"
    return f"once at {schedule.at:%Y-%m-%d %H:%M:%S} UTC"


def upcoming(schedule: Schedule, count: int, now: datetime) -> tuple[list[datetime], str]:
    """The next times in the schedule's zone, or why there are none to tell."""
    try:
        zone = ZoneInfo(schedule.time_zone)
        return [moment.astimezone(zone) for moment in next_times(rule_of(schedule), now, count)], ""
    except FAULTS as error:
        return [], str(error)


def act(request: HttpRequest, schedule: Schedule, verb: str, back: str) -> HttpResponse:
    if verb not in ACTIONS:
        raise Http404
    permission, effect, blocked, operation = ACTIONS[verb]
    demand(request, permission)

    def perform(form: forms.Form) -> str:
        operation(person(request), schedule.pk, form.cleaned_data["reason"])
        return f"{verb.replace('-', ' ').capitalize()}: {schedule.name}."

    label = verb.replace("-", " ").capitalize()
    title = f"{label}: {schedule.name}"
    return confirm(request, Action(title, [effect], label, perform, back, blocked=blocked(schedule)))


ACTIONS: dict[str, tuple[str, str, Callable[[Schedule], str], Callable[..., Any]]] = {
    "run-now": (
        RUN,
        "One event more is enqueued at once; the times of the schedule stay as they are.",
        lambda schedule: "",
        lambda actor, number, reason: operations.run_now(actor, number, reason),
    ),
    "enable": (
        SWITCH,
        "It fires from its next time on; nothing is fired for the time it was off.",
        lambda schedule: "It is on already." if schedule.enabled else "",
        lambda actor, number, reason: operations.change(actor, number, reason, enabled=True),
    ),
    "disable": (
        SWITCH,
        "It fires no more; events that are not due yet are taken back, others stay in the queue.",
        lambda schedule: "" if schedule.enabled else "It is off already.",
        lambda actor, number, reason: operations.change(actor, number, reason, enabled=False),
    ),
}
