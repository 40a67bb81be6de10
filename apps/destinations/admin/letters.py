"""Dead letters of a destination: redrive or discard one; many at once are a bulk operation of the console."""

from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from apps.destinations.models import Destination
from apps.destinations.operations import dead_letters as operations
from apps.leases.models import DeadLetter, Death
from core.admin import Action, confirm, demand, person
from core.masking import shown_text
from core.sequence import sequence
from core.words import age, counted

REDRIVE, DISCARD = "console.redrive", "console.purge"
SHOWN = 20


def letters(row: Destination) -> list[DeadLetter]:
    """The latest, one more than is shown; bodies stay where they are."""
    known = DeadLetter.objects.filter(topic_id=row.topic_id, consumer_id=row.consumer_id)
    return list(known.defer("body").order_by("-id")[: SHOWN + 1])


def redrive(request: HttpRequest, row: Destination, letter_id: UUID, back: str) -> HttpResponse:
    demand(request, REDRIVE)
    letter = _letter(row, letter_id)

    def perform(form: forms.Form) -> str:
        operations.redrive(person(request), str(row.uid), letter_id, reason=form.cleaned_data["reason"])
        return "The event is handed out again."

    action = Action(
        title="Redrive a dead letter",
        effects=[
            f"The event {_place(letter)} is handed out to {row.name} again, before new ones, as attempt 1.",
            "No other reader of the topic sees it.",
            _history(letter),
            "The committed position stays where it is. If it fails as often again, it comes back to this list.",
        ],
        button="Redrive",
        perform=perform,
        back=back,
        blocked=_blocked(letter),
    )
    return confirm(request, action)


def discard(request: HttpRequest, row: Destination, letter_id: UUID, back: str) -> HttpResponse:
    demand(request, DISCARD)
    letter = _letter(row, letter_id)

    def perform(form: forms.Form) -> str:
        operations.discard(person(request), str(row.uid), letter_id, reason=form.cleaned_data["reason"])
        return "The dead letter is discarded."

    action = Action(
        title="Discard a dead letter",
        effects=[
            f"{row.name} never gets the event {_place(letter)}; the copy is removed, and retention removes the original.",
            _history(letter),
        ],
        button="Discard",
        perform=perform,
        back=back,
        blocked=_blocked(letter),
        danger=True,
    )
    return confirm(request, action)


def _letter(row: Destination, letter_id: UUID) -> DeadLetter:
    known = DeadLetter.objects.filter(topic_id=row.topic_id, consumer_id=row.consumer_id, id=letter_id)
    found = known.defer("body").first()
    if found is None:
        raise Http404
    return found


def _place(letter: DeadLetter) -> str:
    return sequence(letter.partition, letter.offset)


def _history(letter: DeadLetter) -> str:
    first, last = (age((timezone.now() - moment).total_seconds()) for moment in (letter.first_at, letter.last_at))
    times, error = counted(letter.handouts, "time"), shown_text(letter.error)
    return f"It was delivered {times}, first {first} ago, given up {last} ago: {error}"


def _blocked(letter: DeadLetter) -> str:
    return "It has been handed out again already." if letter.state == Death.REDRIVEN else ""
