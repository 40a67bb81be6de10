"""The list of queues and the page of one, with its events by state. All figures are of samples and say as of when."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from unfold.decorators import display
from unfold.views import ChangeList

from apps.access.models import Audit
from apps.queues.admin import actions, events
from apps.queues.models import Queue
from apps.queues.selectors import Standing, standing, standings, trend
from core.admin import LookedUpList, may
from core.csv_file import CsvAdmin, batches
from core.words import ago, count, rate

SPANS = {"1h": (3_600, 30), "24h": (86_400, 300), "7d": (604_800, 1_800)}
AUDIT_SHOWN = 20


class Sampled(LookedUpList):
    """One query for the samples of all queues of the page."""

    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        stats = standings([queue.pk for queue in rows])
        for queue in rows:
            queue.stats = stats.get(queue.pk)


class PausedFilter(admin.SimpleListFilter):
    title = parameter_name = "paused"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "paused"), ("no", "running")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Queue]) -> QuerySet[Queue]:
        return queryset.filter(paused_at__isnull=self.value() == "no") if self.value() else queryset


@admin.register(Queue)
class QueueAdmin(CsvAdmin):
    list_display = ("name", "state", "ready", "scheduled", "in_flight", "blocked", "dead", "oldest", "settled_rate", "as_of")
    list_display_links = ("name",)
    search_fields = ("name",)
    list_filter = (PausedFilter,)
    ordering = ("name",)
    actions = ("pause_chosen", "resume_chosen")

    csv_titles = (
        "queue", "state", "ready", "scheduled", "inFlight", "blocked", "dead", "isExact", "oldestReadyAt",
        "settledPerSecond", "asOf",
    )  # fmt: skip

    def csv_rows(self, request: HttpRequest, found: QuerySet[Queue]) -> Iterator[tuple[Any, ...]]:
        for some in batches(found):
            stats = standings([queue.pk for queue in some])
            yield from (plain(self.state(queue), queue, stats.get(queue.pk)) for queue in some)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Queue]:
        return super().get_queryset(request).filter(deleted_at=None)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # type: ignore[override]
        return Sampled

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return super().get_actions(request) if may(request, actions.PAUSE) else {}

    @display(description="state", label={"paused": "warning", "running": "success"})
    def state(self, queue: Any) -> str:
        return "paused" if queue.paused_at else "running"

    @display(description="ready")
    def ready(self, queue: Any) -> str:
        return figure(queue.stats, "ready")

    @display(description="scheduled")
    def scheduled(self, queue: Any) -> str:
        return figure(queue.stats, "scheduled")

    @display(description="in flight")
    def in_flight(self, queue: Any) -> str:
        return figure(queue.stats, "in_flight")

    @display(description="blocked")
    def blocked(self, queue: Any) -> str:
        return figure(queue.stats, "blocked")

    @display(description="dead")
    def dead(self, queue: Any) -> str:
        return figure(queue.stats, "dead")

    @display(description="oldest ready")
    def oldest(self, queue: Any) -> str:
        return ago(queue.stats.now.oldest_at) if queue.stats and queue.stats.now.ready else "none"

    @display(description="settled")
    def settled_rate(self, queue: Any) -> str:
        return rate(queue.stats.settled_per_second if queue.stats else None)

    @display(description="as of")
    def as_of(self, queue: Any) -> str:
        return ago(queue.stats.now.at) if queue.stats else "no sample yet"

    @admin.action(description="Pause…")
    def pause_chosen(self, request: HttpRequest, chosen: QuerySet[Queue]) -> HttpResponse:
        return actions.pause(request, list(chosen), request.get_full_path(), "pause_chosen")

    @admin.action(description="Resume…")
    def resume_chosen(self, request: HttpRequest, chosen: QuerySet[Queue]) -> HttpResponse:
        return actions.resume(request, list(chosen), request.get_full_path(), "resume_chosen")

    def get_urls(self) -> list[URLPattern]:
        view, name = self.admin_site.admin_view, "queues_queue"
        return [
            path("<int:number>/do/<slug:verb>/", view(self.act), name=f"{name}_act"),
            path("<int:number>/events/csv/", view(self.file), name=f"{name}_events_csv"),
            path("<int:number>/events/<uuid:event>/", view(self.event), name=f"{name}_event"),
            path("<int:number>/events/<uuid:event>/raw/", view(self.raw), name=f"{name}_event_raw"),
            path("<int:number>/events/<uuid:event>/do/<slug:verb>/", view(self.act_on_event), name=f"{name}_event_act"),
            *super().get_urls(),
        ]

    def show(self, request: HttpRequest, row: Queue) -> HttpResponse:
        span = request.GET.get("span") if request.GET.get("span") in SPANS else "1h"
        context = {
            "queue": row,
            "stats": standing(row.pk),
            "spans": list(SPANS),
            "span": span,
            "depth": [(sample.at, sample.depth) for sample in trend(row.pk, *SPANS[str(span)])],
            "buttons": actions.buttons_of_queue(request, row),
            "may_redrive": may(request, "console.redrive"),
            "may_discard": may(request, "console.purge"),
            "schedules": row.schedules.order_by("name")[:50],
            "audit": Audit.objects.filter(object_kind="queue", object_id=str(row.uid)).order_by("-id")[:AUDIT_SHOWN],
            **events.browse(request, row),
        }
        return self.page(request, "queues/queue.html", f"Queue {row.name}", context)

    def act(self, request: HttpRequest, number: int, verb: str) -> HttpResponse:
        return actions.of_queue(request, self._queue(request, number), verb, self._page_of(number))

    def event(self, request: HttpRequest, number: int, event: UUID) -> HttpResponse:
        return events.show(request, self._queue(request, number), event)

    def file(self, request: HttpRequest, number: int) -> StreamingHttpResponse:
        return events.file(request, self._queue(request, number))

    def raw(self, request: HttpRequest, number: int, event: UUID) -> HttpResponse:
        return events.raw(request, self._queue(request, number), event)

    def act_on_event(self, request: HttpRequest, number: int, event: UUID, verb: str) -> HttpResponse:
        return actions.of_event(request, self._queue(request, number), event, verb, self._page_of(number))

    def _queue(self, request: HttpRequest, number: int) -> Queue:
        return get_object_or_404(self.get_queryset(request), pk=number)

    def _page_of(self, number: int) -> str:
        return reverse("admin:queues_queue_change", args=[number])


def plain(state: str, queue: Queue, stats: Standing | None) -> tuple[Any, ...]:
    """For a file. What has no sample yet has no figures."""
    if stats is None:
        return queue.name, state
    now = stats.now
    return (
        queue.name, state, now.ready, now.scheduled, now.in_flight, now.blocked, now.dead, now.exact, now.oldest_at,
        stats.settled_per_second, now.at,
    )  # fmt: skip


def figure(stats: Standing | None, name: str) -> str:
    """`100,000+` where counting stopped at the limit; unknown without a sample."""
    if stats is None:
        return count(None)
    number: int = getattr(stats.now, name)
    return f"{count(number)}+" if not stats.now.exact and number >= 100_000 else count(number)
