"""Moving a destination or a group: choose a place, see each partition before and after, type the name; and back again.

The confirming POST carries the exact offsets that the page showed: what was seen is what happens, also when the head moves.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from apps.access.models import Audit
from apps.cursors.selectors import Place
from apps.leases.operations.seek import Sought
from core.admin import Action, confirm, demand, page, typed
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
class Reader:
    name: str
    """What is typed to be sure."""
    move: Callable[..., Sought]
    """The operation, on record: takes the place, and `dry_run` or `reason`."""
    positions: Callable[[], Mapping[int, int]]
    """By partition, where the next new batch begins."""
    moves: QuerySet[Audit]
    url: str
    back: str
    held: str
    """What is in the way of a move: a lease, or an assignment."""
    late: str
    """What becomes of whoever has one."""


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

    @property
    def is_bound(self) -> bool:
        """Behind the first unsettled event some are settled, which nobody skips."""
        return self.skipped > 0 and self.before < self.position


@dataclass
class Move(Action):
    steps: Sequence[Step] = ()


def seek(request: HttpRequest, reader: Reader) -> HttpResponse:
    demand(request, SEEK)
    if request.method == "POST":
        return _confirm(request, reader, [_parsed(text) for text in request.POST.getlist("at")])
    form = PlaceForm(request.GET if "to" in request.GET else None)
    if form.is_valid():
        try:
            return _confirm(request, reader, form.place())
        except DomainError as error:
            form.add_error(None, error.message)
    return _choose(request, reader, form)


def _choose(request: HttpRequest, reader: Reader, form: forms.Form) -> HttpResponse:
    context = {
        "form": form,
        "moves": reader.moves.order_by("-id")[:MOVES_SHOWN],
        "list_url": reader.back,
        "list_name": f"back to {reader.name}",
    }
    return page(request, "leases/seek.html", f"Seek {reader.name}", context)


def _confirm(request: HttpRequest, reader: Reader, place: Place) -> HttpResponse:
    planned = reader.move(place, dry_run=True)
    exact = list(planned.after.items())
    steps = _steps(planned, reader.positions())

    def perform(form: forms.Form) -> str:
        done = reader.move(exact, reason=form.cleaned_data["reason"])
        return (
            f"{reader.name} is moved. {counted(done.redelivered, 'event')} will be delivered again,"
            f" {counted(done.leases_fenced, reader.held)} fenced. The way back stands below."
        )

    action = Move(
        title=f"Seek {reader.name}",
        effects=_effects(reader, planned, steps),
        button="Seek",
        perform=perform,
        back=reader.url,
        form_class=typed(reader.name),
        danger=True,
        template="leases/seek_confirm.html",
        hidden={"at": [sequence(*each) for each in exact]},
        steps=steps,
    )
    return confirm(request, action)


def _steps(planned: Sought, positions: Mapping[int, int]) -> list[Step]:
    return [
        Step(partition, planned.before[partition], after, positions.get(partition, after))
        for partition, after in planned.after.items()
    ]


def _effects(reader: Reader, planned: Sought, steps: Sequence[Step]) -> list[str]:
    skipped = sum(step.skipped for step in steps)
    bound = "up to " if any(step.is_bound for step in steps) else ""
    return [
        f"{counted(planned.redelivered, 'event')} that were handed out before will be delivered again.",
        f"{bound}{counted(skipped, 'event')} that are not settled yet will be skipped.",
        f"{counted(planned.leases_fenced, reader.held)} in the way {'ends' if planned.leases_fenced == 1 else 'end'}:"
        f" {reader.late}",
        "Where it stood is kept: the way back is a seek to it.",
    ]


def _parsed(text: str) -> tuple[int, int]:
    return parse_sequence(text, "at")
