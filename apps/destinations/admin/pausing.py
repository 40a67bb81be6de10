"""Pause and resume, of one destination or of the chosen ones: what it will mean in numbers, then the button."""

from collections.abc import Sequence

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from apps.destinations.models import Destination
from apps.destinations.operations import pause as operations
from apps.destinations.selectors.cause import DISABLED, PAUSED
from apps.destinations.selectors.standing import Standing, standings
from core.admin import Action, ReasonForm, UntilField, confirm, demand, person
from core.words import age, counted

PAUSE = "console.pause"
SHOWN = 10


class PauseForm(ReasonForm):
    resume_at = UntilField(label="Until", help_text="It resumes by itself at this time. Without one, somebody has to.")


def pause(request: HttpRequest, chosen: Sequence[Destination], back: str, bulk: str = "") -> HttpResponse:
    demand(request, PAUSE)
    running = [each for each in _standing(chosen) if not each.status.paused]

    def perform(form: forms.Form) -> str:
        given = form.cleaned_data
        with transaction.atomic():
            for each in running:
                operations.pause(
                    person(request), str(each.destination.uid), reason=given["reason"], resume_at=given["resume_at"]
                )
        return f"Paused {_names_of(running)}."

    action = Action(
        title=f"Pause {_names(chosen)}",
        effects=_effects_of_pause(running, skipped=len(chosen) - len(running)),
        button="Pause",
        perform=perform,
        back=back,
        form_class=PauseForm,
        blocked="" if running else "Already paused.",
        hidden=_carried(bulk, chosen),
    )
    return confirm(request, action)


def resume(request: HttpRequest, chosen: Sequence[Destination], back: str, bulk: str = "") -> HttpResponse:
    demand(request, PAUSE)
    stopped = [each for each in _standing(chosen) if each.cause.state in (PAUSED, DISABLED)]

    def perform(form: forms.Form) -> str:
        with transaction.atomic():
            for each in stopped:
                operations.resume(person(request), str(each.destination.uid), reason=form.cleaned_data["reason"])
        return f"Resumed {_names_of(stopped)}."

    action = Action(
        title=f"Resume {_names(chosen)}",
        effects=_effects_of_resume(stopped, skipped=len(chosen) - len(stopped)),
        button="Resume",
        perform=perform,
        back=back,
        form_class=ReasonForm,
        blocked="" if stopped else "Nothing here is paused.",
        hidden=_carried(bulk, chosen),
    )
    return confirm(request, action)


def _standing(chosen: Sequence[Destination]) -> list[Standing]:
    """In one order, so that two administrators who pause the same ones lock them in the same order."""
    return standings(sorted(chosen, key=lambda row: (row.topic_id, row.consumer_id)))


def _effects_of_pause(found: Sequence[Standing], skipped: int) -> list[str]:
    leased = sum(each.status.in_flight for each in found)
    behind = sum(each.status.lag_events for each in found)
    return [
        f"{counted(len(found), 'destination hands', 'destinations hand')} out nothing more: {_names_of(found)}."
        " Pulls are answered 409 at once.",
        f"{counted(leased, 'event')} leased now may still be acknowledged or extended; what fails or expires waits.",
        f"{counted(behind, 'event')} wait to be settled; nothing is lost, and the lag grows until it is resumed.",
        *_skipped(skipped, "paused already"),
    ]


def _effects_of_resume(found: Sequence[Standing], skipped: int) -> list[str]:
    behind = sum(each.status.lag_events for each in found)
    oldest = max((each.status.lag_seconds for each in found if each.status.lag_seconds is not None), default=None)
    return [
        f"{counted(len(found), 'destination hands', 'destinations hand')} out events again with the next pull:"
        f" {_names_of(found)}.",
        f"{counted(behind, 'event')} wait; age of the oldest: {age(oldest)}. What failed or expired comes first.",
        *_skipped(skipped, "not paused"),
    ]


def _skipped(number: int, why: str) -> list[str]:
    return [f"{number} of the chosen stay as they are ({why})."] if number else []


def _names(rows: Sequence[Destination]) -> str:
    named = ", ".join(row.name for row in rows[:SHOWN])
    return f"{named} and {len(rows) - SHOWN} more" if len(rows) > SHOWN else named


def _names_of(found: Sequence[Standing]) -> str:
    return _names([each.destination for each in found])


def _carried(bulk: str, chosen: Sequence[Destination]) -> dict[str, list[str]]:
    """The list's own form, so that the confirming POST reaches the same action with the same rows."""
    return {"action": [bulk], "_selected_action": [str(row.pk) for row in chosen]} if bulk else {}
