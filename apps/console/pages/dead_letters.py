"""Dead letters in one place: by the error they died of, then one by one, with what may be done about them."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.console.operations.resubmit import resubmit_letter
from apps.console.selectors.dead_letters import BEFORE_ALL, QUEUES, Group, Position, of_destinations, of_queues
from apps.destinations.models import Destination
from apps.destinations.operations import dead_letters as operations
from apps.leases.models import DeadLetter, Death
from apps.queues.models import Queue
from core import admin, masking, payloads
from core.admin import Action, ReasonForm, confirm, demand, may, person
from core.clock import parse_time, rfc3339
from core.errors import DomainError
from core.ids import uuid7
from core.json_text import indented, replaced
from core.masking import shown_payload, shown_text
from core.names import as_uuid
from core.pages import decode_cursor, encode_cursor
from core.sequence import sequence

SHOWN = 50
PAYLOADS, REDRIVE, PURGE, PUBLISH = "console.view_payloads", "console.redrive", "console.purge", "console.publish_test"
SEQUENCE_MEMBER = len(',"sequence":"003.00000000000000000120"}')


def groups(request: HttpRequest) -> TemplateResponse:
    demand(request, "console.view_console")
    after = _after(request.GET.get("after", ""))
    found = of_destinations(after, SHOWN + 1)
    rows = found[:SHOWN]
    if after == BEFORE_ALL:
        rows += groups_of_queues()
    context = {
        "groups": rows,
        "next": encode_cursor(found[SHOWN - 1].position) if len(found) > SHOWN else "",
        "may_redrive": may(request, REDRIVE),
        "may_discard": may(request, PURGE),
    }
    return admin.page(request, "console/dead_letters.html", "Dead letters", context)


def groups_of_queues() -> list[Group]:
    return of_queues(list(Queue.objects.filter(deleted_at=None).order_by("pk")[:QUEUES]))


def _after(cursor: str) -> Position:
    try:
        topic_id, consumer_id, fingerprint = decode_cursor(cursor, [int, int, str])
    except DomainError:
        return BEFORE_ALL
    return topic_id, consumer_id, fingerprint


def group(request: HttpRequest, number: int, fingerprint: str) -> TemplateResponse:
    """The letters of one error, the latest first."""
    demand(request, "console.view_console")
    home = destination(number)
    rows = list(letters_after(home, fingerprint, request.GET.get("after", "")).defer("body")[: SHOWN + 1])
    last = rows[SHOWN - 1] if len(rows) > SHOWN else None
    context = {
        "destination": home,
        "fingerprint": fingerprint,
        "letters": rows[:SHOWN],
        "next": encode_cursor([rfc3339(last.last_at), str(last.id)]) if last else "",
        "may_redrive": may(request, REDRIVE),
        "may_discard": may(request, PURGE),
        "list_url": reverse("admin:dead_letters"),
        "list_name": "dead letters",
    }
    return admin.page(request, "console/dead_letter_group.html", f"Dead letters of {home.name}", context)


def letters_after(home: Destination, fingerprint: str, cursor: str) -> QuerySet[DeadLetter]:
    found = _letters(home).filter(fingerprint=fingerprint, state=Death.DEAD).order_by("-last_at", "-id")
    try:
        at, text = decode_cursor(cursor, [str, str])
        moment, identifier = parse_time(at, "after"), as_uuid(text)
    except DomainError:
        return found
    return found.filter(Q(last_at__lt=moment) | Q(last_at=moment, id__lt=identifier)) if identifier else found


def letter(request: HttpRequest, number: int, identifier: UUID) -> TemplateResponse:
    demand(request, "console.view_console")
    home = destination(number)
    found = _letter(home, identifier)
    context = {
        "destination": home,
        "letter": found,
        "sequence": sequence(found.partition, found.offset),
        "is_dead": found.state == Death.DEAD,
        **payloads.viewed(found.body, may(request, PAYLOADS)),
        "may_redrive": may(request, REDRIVE),
        "may_discard": may(request, PURGE),
        "may_resubmit": may(request, PAYLOADS) and may(request, PUBLISH),
        **_back(home, found),
    }
    return admin.page(request, "console/dead_letter.html", f"Dead letter of {home.name}", context)


def act(request: HttpRequest, number: int, identifier: UUID, verb: str) -> HttpResponse:
    if verb not in ACTS:
        raise Http404
    permission, effect, operation = ACTS[verb]
    demand(request, permission)
    home = destination(number)
    found = _letter(home, identifier)

    def perform(form: forms.Form) -> str:
        operation(person(request), str(home.uid), identifier, reason=form.cleaned_data["reason"])
        return f"{verb.capitalize()}: {sequence(found.partition, found.offset)} of {home.name}."

    action = Action(
        title=f"{verb.capitalize()} a dead letter",
        effects=[f"{sequence(found.partition, found.offset)} of {home.name}: {shown_text(found.error)[:300]}", effect],
        button=verb.capitalize(),
        perform=perform,
        back=_back(home, found)["list_url"],
        blocked="" if found.state == Death.DEAD else "It has been redriven already.",
        danger=verb == "discard",
    )
    return confirm(request, action)


ACTS: dict[str, tuple[str, str, Any]] = {
    "redrive": (REDRIVE, "Handed out again to this destination alone, as attempt 1, before new events.", operations.redrive),
    "discard": (PURGE, "Removed for good. It is never delivered to this destination.", operations.discard),
}


class EditForm(ReasonForm):
    event = forms.CharField(
        strip=False,
        max_length=4_194_304,
        widget=forms.Textarea(attrs={"rows": 16, "class": "tp-editor", "spellcheck": "false"}),
        label="The new event, as JSON",
    )
    field_order = ("event", "reason")


def resubmit(request: HttpRequest, number: int, identifier: UUID) -> HttpResponse:
    demand(request, PAYLOADS)
    demand(request, PUBLISH)
    home = destination(number)
    found = _letter(home, identifier)
    text = editable(found.body)

    def perform(form: forms.Form) -> str:
        given = form.cleaned_data
        made = resubmit_letter(person(request), home, found, given["event"], given["reason"])
        return f"Published as {made}; the dead letter is gone."

    action = Action(
        title="Edit and resubmit",
        effects=[
            f"A new event goes to {home.topic.name}: every reader of the topic gets it, not {home.name} alone.",
            "It has another id, so that it is not taken for a repeat. The dead letter is discarded.",
        ],
        button="Publish",
        perform=perform,
        back=_back(home, found)["list_url"],
        form_class=form_with(text),
        blocked=why_not_edited(found.body) or ("" if found.state == Death.DEAD else "It has been redriven already."),
    )
    return confirm(request, action)


def form_with(text: str) -> Callable[..., forms.Form]:
    return partial(EditForm, initial={"event": text})


def why_not_edited(text: str) -> str:
    """A hidden field cannot be edited, and must not be published as its mask."""
    if shown_payload(text) != text:
        hidden = ", ".join(sorted(masking.names()))
        return f"It has fields that are hidden here ({hidden}): redrive it as it is."
    return ""


def editable(body: str) -> str:
    """Without the sequence that stands at its end, and with a new id."""
    text = shown_payload(body[:-SEQUENCE_MEMBER] + "}")
    return indented(replaced(text, lambda depth, name: f'"{uuid7()}"' if depth == 1 and name == "id" else None))


def destination(number: int) -> Destination:
    return get_object_or_404(Destination.objects.select_related("topic"), pk=number)


def _letters(home: Destination) -> QuerySet[DeadLetter]:
    return DeadLetter.objects.filter(topic_id=home.topic_id, consumer_id=home.consumer_id)


def _letter(home: Destination, identifier: UUID) -> DeadLetter:
    return get_object_or_404(_letters(home), id=identifier)


def _back(home: Destination, found: DeadLetter) -> dict[str, str]:
    url = reverse("admin:dead_letter_group", args=[home.pk, found.fingerprint])
    return {"list_url": url, "list_name": "dead letters of this error"}
