"""Events of a queue by state, and one of them with its payload."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse

from apps.queues.admin import actions
from apps.queues.models import Queue, QueueEvent, State
from apps.queues.selectors import events
from core import payloads
from core.admin import demand, may, page
from core.csv_file import MOST, as_file
from core.masking import shown_text
from core.names import as_uuid

PAYLOADS = "console.view_payloads"
LIMIT = 50
TITLES = (
    "id", "state", "priority", "attempts", "enqueued", "scheduled", "due", "died", "groupKey", "idempotencyKey", "worker",
    "error",
)  # fmt: skip


def browse(request: HttpRequest, queue: Queue) -> dict[str, Any]:
    """What the queue's page shows of its events: one state, in pages by id."""
    chosen = _state(request)
    after = as_uuid(request.GET.get("after", ""))
    rows = list(events(queue.pk, [chosen], (after,) if after else None).defer("payload")[: LIMIT + 1])
    return {
        "states": list(State),
        "state": chosen,
        "events": rows[:LIMIT],
        "next": rows[LIMIT - 1].id if len(rows) > LIMIT else None,
    }


def _state(request: HttpRequest) -> State:
    state = request.GET.get("state", "")
    return State(state) if state in State else State.READY


def file(request: HttpRequest, queue: Queue) -> StreamingHttpResponse:
    """Of one state, further than the page shows at once. Payloads are not in it."""
    demand(request, "console.view_console")
    found = events(queue.pk, [_state(request)]).defer("payload")[:MOST]
    return as_file(f"{queue.name}-events", TITLES, map(_row, found.iterator(chunk_size=500)))


def _row(event: QueueEvent) -> tuple[Any, ...]:
    return (
        event.id, event.state, event.priority, event.attempts, event.enqueued_at, event.scheduled_at, event.due_at,
        event.died_at, event.group_key, event.idempotency_key, event.leased_by, shown_text(event.error or ""),
    )  # fmt: skip


def show(request: HttpRequest, queue: Queue, event: UUID) -> HttpResponse:
    demand(request, "console.view_console")
    found = _event(queue, event)
    context = {
        "queue": queue,
        "event": found,
        **payloads.viewed(found.payload, may(request, PAYLOADS)),
        "buttons": actions.buttons_of_event(request, queue, found),
        "list_url": reverse("admin:queues_queue_change", args=[queue.pk]) + f"?state={found.state}#events",
        "list_name": f"queue {queue.name}",
    }
    return page(request, "queues/event.html", f"Event {found.id}", context)


def raw(request: HttpRequest, queue: Queue, event: UUID) -> HttpResponse:
    demand(request, PAYLOADS)
    return payloads.raw(_event(queue, event).payload, event)


def _event(queue: Queue, event: UUID) -> QueueEvent:
    found = QueueEvent.objects.filter(queue_id=queue.pk, id=event).first()
    if found is None:
        raise Http404
    return found
