"""What an operator may do to a queue or one of its events: what it will mean, the reason, the button; then one operation."""

from collections.abc import Callable, Sequence
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from apps.queues.models import Queue, QueueEvent
from apps.queues.operations import dead_letters
from apps.queues.operations import queues as operations
from apps.queues.operations.sweep import LIVING
from apps.queues.selectors import queue_of, standing
from core.admin import NOT_WITH_THIS_ROLE, Action, Button, TypedForm, confirm, demand, may, person, typed
from core.words import counted

PAUSE, REDRIVE, PURGE, DELETE = "console.pause", "console.redrive", "console.purge", "console.delete"
Answer = Callable[[HttpRequest, Queue, str], HttpResponse]


class PurgeForm(TypedForm):
    dead_letters = forms.BooleanField(required=False, label="Dead letters too")


def pause(request: HttpRequest, chosen: Sequence[Queue], back: str, bulk: str = "") -> HttpResponse:
    demand(request, PAUSE)
    running = [queue for queue in chosen if queue.paused_at is None]
    effects = [
        f"{counted(len(running), 'queue hands', 'queues hand')} out nothing more: {_names(running)}.",
        "Claims wait, and are answered null at their deadline.",
        "What is leased may still be acknowledged, given back or kept alive; what expires waits.",
    ]
    return _of_each(request, "Pause", chosen, running, operations.pause, effects, back, bulk)


def resume(request: HttpRequest, chosen: Sequence[Queue], back: str, bulk: str = "") -> HttpResponse:
    demand(request, PAUSE)
    stopped = [queue for queue in chosen if queue.paused_at is not None]
    effects = [f"{counted(len(stopped), 'queue hands', 'queues hand')} out again, at once: {_names(stopped)}."]
    return _of_each(request, "Resume", chosen, stopped, operations.resume, effects, back, bulk)


def _of_each(
    request: HttpRequest,
    verb: str,
    chosen: Sequence[Queue],
    concerned: Sequence[Queue],
    operation: Callable[..., Queue],
    effects: list[str],
    back: str,
    bulk: str,
) -> HttpResponse:
    def perform(form: forms.Form) -> str:
        with transaction.atomic():
            # In one order, so that two administrators with the same choice lock in the same order.
            for queue in sorted(concerned, key=lambda queue: queue.pk):
                operation(person(request), queue.pk, reason=form.cleaned_data["reason"])
        return f"{verb}: {_names(concerned)}."

    hidden = {"action": [bulk], "_selected_action": [str(queue.pk) for queue in chosen]} if bulk else {}
    blocked = "" if concerned else "Nothing here would change."
    return confirm(request, Action(f"{verb} {_names(chosen)}", effects, verb, perform, back, blocked=blocked, hidden=hidden))


def _purge(request: HttpRequest, queue: Queue, back: str) -> HttpResponse:
    def perform(form: forms.Form) -> str:
        given = form.cleaned_data
        _, removed = operations.purge(person(request), queue.pk, dead_too=given["dead_letters"], reason=given["reason"])
        return f"Purged {queue.name}: {counted(removed, 'event')} removed."

    effects = [
        _held(queue),
        "What workers hold is removed too: their acknowledgement is answered 409.",
        "It cannot be undone.",
    ]
    action = Action(
        f"Purge {queue.name}", effects, "Purge", perform, back, form_class=typed(queue.name, PurgeForm), danger=True
    )
    return confirm(request, action)


def _delete(request: HttpRequest, queue: Queue, back: str) -> HttpResponse:
    def perform(form: forms.Form) -> str:
        operations.delete(person(request), queue.pk, form.cleaned_data["reason"])
        return f"Deleted {queue.name}."

    effects = [
        _held(queue),
        f"{counted(queue.schedules.count(), 'schedule')} of it end too.",
        "Waiting claims and later acknowledgements are answered 404. It cannot be undone.",
    ]
    form_class, back = typed(queue.name), reverse("admin:queues_queue_changelist")
    return confirm(request, Action(f"Delete {queue.name}", effects, "Delete", perform, back, form_class, danger=True))


def of_queue(request: HttpRequest, queue: Queue, verb: str, back: str) -> HttpResponse:
    if verb not in OF_QUEUE:
        raise Http404
    permission, answer = OF_QUEUE[verb]
    demand(request, permission)
    return answer(request, queue, back)


OF_QUEUE: dict[str, tuple[str, Answer]] = {
    "pause": (PAUSE, lambda request, queue, back: pause(request, [queue], back)),
    "resume": (PAUSE, lambda request, queue, back: resume(request, [queue], back)),
    "purge": (PURGE, _purge),
    "delete": (DELETE, _delete),
}


def buttons_of_queue(request: HttpRequest, queue: Queue) -> list[Button]:
    needless = {"pause": queue.paused_at is not None, "resume": queue.paused_at is None}
    why = {"pause": "It is paused already.", "resume": "It is not paused."}
    return [
        Button(
            verb.capitalize(),
            reverse("admin:queues_queue_act", args=[queue.pk, verb]),
            NOT_WITH_THIS_ROLE if not may(request, permission) else why[verb] if needless.get(verb) else "",
        )
        for verb, (permission, _) in OF_QUEUE.items()
    ]


def buttons_of_event(request: HttpRequest, queue: Queue, event: QueueEvent) -> list[Button]:
    """Those that make sense for its state."""
    found = [
        Button(
            verb.replace("-", " ").capitalize(),
            reverse("admin:queues_queue_event_act", args=[queue.pk, event.id, verb]),
            "" if may(request, permission) else NOT_WITH_THIS_ROLE,
            danger=verb == "discard",
        )
        for verb, (permission, states, *_) in OF_EVENT.items()
        if event.state in states
    ]
    if event.state == "dead":
        may_resubmit = may(request, "console.view_payloads") and may(request, "console.publish_test")
        url = reverse("admin:resubmit_event", args=[queue.pk, event.id])
        found.append(Button("Edit and resubmit", url, "" if may_resubmit else NOT_WITH_THIS_ROLE))
    return found


def of_event(request: HttpRequest, queue: Queue, event: UUID, verb: str, back: str) -> HttpResponse:
    found = QueueEvent.objects.filter(queue_id=queue.pk, id=event).defer("payload").first()
    if verb not in OF_EVENT or found is None:
        raise Http404
    permission, states, effect, operation = OF_EVENT[verb]
    demand(request, permission)

    def perform(form: forms.Form) -> str:
        operation(person(request), queue.pk, event, form.cleaned_data["reason"])
        return f"{verb.replace('-', ' ').capitalize()}: event {event}."

    blocked = "" if found.state in states else f"It is {found.state} now."
    effects = [f"Event {event}, {found.state}, attempt {found.attempts}.", effect]
    title = f"{verb.replace('-', ' ').capitalize()} an event of {queue.name}"
    action = Action(title, effects, title.split(" an ")[0], perform, back, blocked=blocked, danger=verb == "discard")
    return confirm(request, action)


def _redrive(actor: object, queue: int, event: UUID, reason: str) -> None:
    dead_letters.redrive(actor, queue_of(queue), event, reason)  # type: ignore[arg-type]


def _run_now(actor: object, queue: int, event: UUID, reason: str) -> None:
    dead_letters.run_now(actor, queue_of(queue), event, reason)  # type: ignore[arg-type]


def _discard(actor: object, queue: int, event: UUID, reason: str) -> None:
    dead_letters.discard(actor, queue_of(queue), event, [*LIVING, "dead"], reason)  # type: ignore[arg-type]


OF_EVENT: dict[str, tuple[str, set[str], str, Callable[[object, int, UUID, str], None]]] = {
    "redrive": (
        REDRIVE,
        {"dead"},
        "A new event with the same payload and all its attempts goes to the end of its key; this one is gone.",
        _redrive,
    ),
    "run-now": (REDRIVE, {"waiting"}, "It is ready at once, instead of at its time.", _run_now),
    "discard": (
        PURGE,
        {*LIVING, "dead"},
        "It is removed for good; the next of its group key comes forward. A worker that holds it is answered 409.",
        _discard,
    ),
}


def _held(queue: Queue) -> str:
    now = standing(queue.pk)
    if now is None:
        return "How many events it holds is not known yet."
    held, dead = counted(now.now.depth, "event"), counted(now.now.dead, "dead letter")
    return f"{held} of {queue.name} and {dead}, as of {now.now.at:%H:%M:%S} UTC."


def _names(queues: Sequence[Queue]) -> str:
    return ", ".join(queue.name for queue in queues[:10]) + (f" and {len(queues) - 10} more" if len(queues) > 10 else "")
