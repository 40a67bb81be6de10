"""Sending to a webhook by hand: a test event, or an event again."""

from django import forms
from django.http import HttpRequest, HttpResponse

from apps.destinations.models import Destination, PushState
from apps.destinations.operations.attempts import Attempt
from apps.destinations.operations.send import MOST_SECONDS, resend, send_test
from apps.destinations.selectors.attempts import AttemptRow, attempts
from core.admin import Action, confirm, demand, person
from core.errors import InvalidField
from core.sequence import parse_sequence

TEST, RESEND = "console.publish_test", "console.redrive"
SHOWN = 20


class NothingForm(forms.Form):
    """The button is all."""


class ResendForm(forms.Form):
    sequence = forms.CharField(help_text="The sequence of the event, as 003.00000000000000000120.")

    def clean_sequence(self) -> tuple[int, int]:
        try:
            return parse_sequence(self.cleaned_data["sequence"].strip(), "sequence")
        except InvalidField as error:
            raise forms.ValidationError(error.message) from None


def shown_attempts(row: Destination) -> list[AttemptRow]:
    return attempts(row.topic_id, row.consumer_id, limit=SHOWN)


def push_state(row: Destination) -> PushState | None:
    return PushState.objects.filter(destination=row).first()


def test(request: HttpRequest, row: Destination, back: str) -> HttpResponse:
    demand(request, TEST)

    def perform(form: forms.Form) -> str:
        return _said(send_test(person(request), str(row.uid)))

    action = Action(
        title=f"Send a test event to {row.name}",
        effects=[
            f"One request of type towpath.test goes to {row.settings['webhook']['url']} now, signed as all are.",
            f"It is in no topic and moves nothing. The answer is waited for, at most {MOST_SECONDS} s.",
        ],
        button="Send",
        perform=perform,
        back=back,
        form_class=NothingForm,
    )
    return confirm(request, action)


def again(request: HttpRequest, row: Destination, back: str) -> HttpResponse:
    demand(request, RESEND)

    def perform(form: forms.Form) -> str:
        return _said(resend(person(request), str(row.uid), form.cleaned_data["sequence"]))

    action = Action(
        title=f"Send one event to {row.name} again",
        effects=[
            "The event goes out now with its own webhook-id: a receiver that remembers ids ignores it.",
            "Position, leases and dead letters stay as they are.",
        ],
        button="Send again",
        perform=perform,
        back=back,
        form_class=ResendForm,
    )
    return confirm(request, action)


def _said(sent: Attempt) -> str:
    reply = sent.reply
    return f"{reply.error or f'Answered {reply.status}'}, after {reply.milliseconds} ms."
