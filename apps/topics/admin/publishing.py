"""A test event from the topic's page: what it will be, who gets it, then the button."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminTextInputWidget

from apps.topics.models import Topic
from apps.topics.operations.append_one import publish_test
from core.admin import Action, ReasonForm, confirm, demand, person
from core.ids import uuid7

PUBLISH = "console.publish_test"
SOURCE = "/towpath/console"


class TestEventForm(ReasonForm):
    __test__ = False  # pytest takes the name for its own

    type = forms.CharField(max_length=200, initial="towpath.test", widget=UnfoldAdminTextInputWidget())
    subject = forms.CharField(max_length=500, required=False, widget=UnfoldAdminTextInputWidget())
    partitionkey = forms.CharField(
        max_length=500, required=False, label="Partition key", widget=UnfoldAdminTextInputWidget()
    )
    payload = forms.CharField(
        strip=False,
        max_length=1_048_576,
        initial='{"test": true}',
        label="Data, as JSON",
        widget=forms.Textarea(attrs={"rows": 8, "class": "tp-editor", "spellcheck": "false"}),
    )
    field_order = ("type", "subject", "partitionkey", "payload", "reason")

    def clean_payload(self) -> str:
        text: str = self.cleaned_data["payload"]
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            raise forms.ValidationError("This is not JSON.") from None
        return text


def publish(request: HttpRequest, topic: Topic, back: str) -> HttpResponse:
    demand(request, PUBLISH)

    def perform(form: forms.Form) -> str:
        made = publish_test(person(request), topic.name, event_text(form.cleaned_data), form.cleaned_data["reason"])
        return f"Published as {made}."

    action = Action(
        title=f"Publish a test event to {topic.name}",
        effects=[
            f"Everybody who reads {topic.name} gets it, as any other event: {_readers(topic)}.",
            f"Its source is {SOURCE} and its id a new one. It cannot be taken back.",
        ],
        button="Publish",
        perform=perform,
        back=back,
        form_class=_form(),
    )
    return confirm(request, action)


def _form() -> Callable[..., forms.Form]:
    return partial(TestEventForm, label_suffix="")


def _readers(topic: Topic) -> str:
    """Related names of the apps above, which this one does not import."""
    names = [*topic.destinations.values_list("name", flat=True)[:6]]
    groups = [*topic.groups.values_list("name", flat=True)[:6]]
    found = names + [f"group {name}" for name in groups]
    return ", ".join(found[:10]) + (" and more" if len(found) > 10 else "") if found else "nobody so far"


def event_text(given: dict[str, Any]) -> str:
    """The data goes in as it was written: a number of it is not rounded."""
    optional = {name: given[name] for name in ("subject", "partitionkey") if given[name]}
    envelope = {"specversion": "1.0", "id": str(uuid7()), "source": SOURCE, "type": given["type"], **optional}
    head = json.dumps({**envelope, "datacontenttype": "application/json"}, ensure_ascii=False)
    return f'{head[:-1]}, "data": {given["payload"]}}}'
