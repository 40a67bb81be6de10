"""Moving a destination: choose a place, see each partition before and after, type the name; and back again.

The confirming POST carries the exact offsets that the page showed: what was seen is what happens, also when the head moves.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.access.models import Audit
from apps.cursors.selectors import Place
from apps.destinations.models import Destination
from apps.destinations.operations import seek as operations
from apps.destinations.selectors.standing import standing
from apps.leases.operations.seek import Sought
from core.admin import Action, confirm, demand, page, person, typed
from core.errors import DomainError, InvalidField
from core.sequence import parse_sequence, sequence
from core.words import counted

SEEK = "console.seek"
MOVES_SHOWN = 5


class PlaceForm(forms.Form):
    to = forms.ChoiceField(
        label="Where to",
        widget=forms.Select(attrs={"class": "tp-until"}),
        choices=[("oldest", "oldest event"), ("head", "head: skip all"), ("time", "a time"), ("sequence", "sequences")],
    )
    time = forms.DateTimeField(
        required=False,
        label="Time of appending, in your zone",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1", "class": "tp-until"}),
    )
    sequence = forms.CharField(
        required=False,
        max_length=8_000,
        label="Sequences to be delivered next",
        widget=forms.TextInput(attrs={"placeholder": "003.00000000000000000120", "class": "tp-until", "size": 26}),
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("to") == "time" and not given.get("time"):
            self.add_error("time", "A time is needed.")
        if given.get("to") == "sequence":
            given["sequence"] = self._sequences(given.get("sequence") or "")
        return given

    def place(self) -> Place:
        given = self.cleaned_data
        place: Place = given[given["to"]] if given["to"] in ("time", "sequence") else given["to"]
        return place

    def _sequences(self, text: str) -> list[tuple[int, int]]:
        found = [part for part in re.split(r"[\s,]+", text) if part]
        try:
            if not found:
                raise InvalidField("A sequence is needed, as 003.00000000000000000120.", field="sequence")
            return [parse_sequence(part, "sequence") for part in found]
        except InvalidField as error:
            self.add_error("sequence", error.message)
            return []


@dataclass(frozen=True)
class Step:
    """What becomes of one partition."""

    partition: int
    before: int
    after: int
    position: int

    @property
    def again(self) -> int:
        return max(0, self.position - self.after)

    @property
    def skipped(self) -> int:
        return max(0, self.after - self.before)


@dataclass
class Move(Action):
    steps: Sequence[Step] = ()


def seek(request: HttpRequest, row: Destination, back: str) -> HttpResponse:
    demand(request, SEEK)
    if request.method == "POST":
        return _confirm(request, row, [_parsed(text) for text in request.POST.getlist("at")], back)
    form = PlaceForm(request.GET if "to" in request.GET else None)
    if form.is_valid():
        try:
            return _confirm(request, row, form.place(), back)
        except DomainError as error:
            form.add_error(None, error.message)
    return _choose(request, row, form, back)


def _choose(request: HttpRequest, row: Destination, form: forms.Form, back: str) -> HttpResponse:
    moves = Audit.objects.filter(object_kind="destination", object_name=row.name, object_id=str(row.uid), verb="seek")
    context = {
        "destination": row,
        "form": form,
        "moves": moves.order_by("-id")[:MOVES_SHOWN],
        "list_url": back,
        "list_name": row.name,
    }
    return page(request, "destinations/seek.html", f"Seek {row.name}", context)


def _confirm(request: HttpRequest, row: Destination, place: Place, back: str) -> HttpResponse:
    planned = operations.seek(person(request), str(row.uid), place, dry_run=True)
    exact = list(planned.after.items())
    here = reverse("admin:destinations_destination_seek", args=[row.pk])

    def perform(form: forms.Form) -> str:
        done = operations.seek(person(request), str(row.uid), exact, reason=form.cleaned_data["reason"])
        return (
            f"{row.name} is moved. {counted(done.redelivered, 'event')} will be delivered again,"
            f" {counted(done.leases_fenced, 'lease')} fenced. The way back stands below."
        )

    action = Move(
        title=f"Seek {row.name}",
        effects=_effects(planned, _steps(row, planned)),
        button="Seek",
        perform=perform,
        back=here,
        form_class=typed(row.name),
        danger=True,
        template="destinations/seek_confirm.html",
        hidden={"at": [sequence(*each) for each in exact]},
        steps=_steps(row, planned),
    )
    return confirm(request, action)


def _steps(row: Destination, planned: Sought) -> list[Step]:
    positions: Mapping[int, int] = {part.partition: part.position for part in standing(row).status.partitions}
    return [
        Step(partition, planned.before[partition], after, positions.get(partition, after))
        for partition, after in planned.after.items()
    ]


def _effects(planned: Sought, steps: Sequence[Step]) -> list[str]:
    skipped = sum(step.skipped for step in steps)
    return [
        f"{counted(planned.redelivered, 'event')} that were handed out before will be delivered again.",
        f"{counted(skipped, 'event')} that are not settled yet will be skipped.",
        f"{counted(planned.leases_fenced, 'lease')} in the way end: a worker that acknowledges one later is answered stale.",
        "Where it stood is kept: the way back is a seek to it.",
    ]


def _parsed(text: str) -> tuple[int, int]:
    return parse_sequence(text, "at")
