"""Expire, extend or park one lease: what becomes of it and of its worker, then the button."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse

from apps.destinations.models import Destination
from apps.destinations.operations import tend as operations
from apps.leases.selectors import LeaseRow, lease
from core.admin import Action, ReasonForm, confirm, demand, person
from core.words import age, counted

SETTLE = "console.settle_leases"
MAX_SECONDS = 600


class ExtendForm(ReasonForm):
    seconds = forms.IntegerField(min_value=1, max_value=MAX_SECONDS, initial=60, label="Seconds from now")


def expire(request: HttpRequest, row: Destination, lease_id: UUID, back: str) -> HttpResponse:
    demand(request, SETTLE)
    held = lease(row.topic_id, row.consumer_id, lease_id)

    def perform(form: forms.Form) -> str:
        operations.expire_lease(person(request), str(row.uid), lease_id, reason=form.cleaned_data["reason"])
        return f"The lease of {_worker(held)} is expired."

    action = Action(
        title="Expire a lease",
        effects=[
            f"{counted(held.events, 'event')} held by {_worker(held)} (attempt {held.attempt}) can be handed out at once.",
            f"If {_worker(held)} acknowledges them later, it is answered stale; what it has done by then is done twice.",
        ],
        button="Expire",
        perform=perform,
        back=back,
        danger=True,
    )
    return confirm(request, action)


def extend(request: HttpRequest, row: Destination, lease_id: UUID, back: str) -> HttpResponse:
    demand(request, SETTLE)
    held = lease(row.topic_id, row.consumer_id, lease_id)

    def perform(form: forms.Form) -> str:
        given = form.cleaned_data
        operations.extend_lease(person(request), str(row.uid), lease_id, given["seconds"], reason=given["reason"])
        return f"The lease of {_worker(held)} ends in {age(given['seconds'])}."

    action = Action(
        title="Extend a lease",
        effects=[
            f"{_worker(held)} keeps {counted(held.events, 'event')} (attempt {held.attempt}) for so long, counted from now.",
            "Nobody else gets them meanwhile, and the cursor cannot pass them.",
        ],
        button="Extend",
        perform=perform,
        back=back,
        form_class=ExtendForm,
        blocked="It waits to be delivered again: there is nothing to extend." if held.state == "waiting" else "",
    )
    return confirm(request, action)


def park(request: HttpRequest, row: Destination, lease_id: UUID, back: str) -> HttpResponse:
    demand(request, SETTLE)
    held = lease(row.topic_id, row.consumer_id, lease_id)

    def perform(form: forms.Form) -> str:
        letters = operations.park_lease(person(request), str(row.uid), lease_id, reason=form.cleaned_data["reason"])
        return f"Parked: {counted(letters, 'dead letter')}, and the cursor may pass."

    action = Action(
        title="Park a lease",
        effects=[
            f"{counted(held.events, 'event')} (attempt {held.attempt}) become dead letters with a copy of what they hold.",
            "The cursor may pass them. They can be redriven from the dead letters at any time.",
            f"If {_worker(held)} acknowledges them later, it is answered stale.",
        ],
        button="Park",
        perform=perform,
        back=back,
        danger=True,
    )
    return confirm(request, action)


def _worker(held: LeaseRow) -> str:
    return held.worker or "a worker without a name"
