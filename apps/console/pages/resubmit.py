"""A dead event of a queue, edited and enqueued as a new one."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from apps.console.operations.resubmit import resubmit_event
from apps.console.pages.dead_letters import PAYLOADS, PUBLISH, form_with, why_not_edited
from apps.queues.models import Queue, QueueEvent
from core.admin import Action, confirm, demand, person
from core.json_text import indented
from core.masking import shown_payload


def event(request: HttpRequest, number: int, identifier: UUID) -> HttpResponse:
    demand(request, PAYLOADS)
    demand(request, PUBLISH)
    queue = get_object_or_404(Queue, pk=number, deleted_at=None)
    found = get_object_or_404(QueueEvent, queue_id=number, id=identifier)

    def perform(form: forms.Form) -> str:
        given = form.cleaned_data
        made = resubmit_event(person(request), number, identifier, given["event"], given["reason"])
        return f"Enqueued as {made}; the dead event is gone."

    action = Action(
        title="Edit and resubmit",
        effects=[
            f"A new event goes to {queue.name}, with all its attempts and the same priority and key.",
            "The dead one is discarded.",
        ],
        button="Enqueue",
        perform=perform,
        back=reverse("admin:queues_queue_change", args=[number]) + "?state=dead#events",
        form_class=form_with(indented(shown_payload(found.payload))),
        blocked=why_not_edited(found.payload) or ("" if found.state == "dead" else f"It is {found.state} now."),
    )
    return confirm(request, action)
