"""Browsing a topic: the latest of all partitions, one partition by offset, one event with its payload."""

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse

from apps.topics.hashing import partition_for
from apps.topics.models import Topic
from apps.topics.selectors.browsing import PartitionNow, Seen, SeenPage, TopicNow, latest, offset_since, one, scan
from core.admin import demand, may, page, shown_payload
from core.errors import InvalidField
from core.json_text import indented
from core.sequence import MAX_OFFSET, parse_sequence

PAYLOADS = "console.view_payloads"
LIMIT = 50
SHOWN_CHARACTERS = 32_768  # of a payload in the page; the whole is behind the link to raw


class BrowseForm(forms.Form):
    partition = forms.IntegerField(required=False, min_value=0, label="Partition")
    start = forms.CharField(required=False, max_length=30, label="From (offset or sequence)")
    since = forms.DateTimeField(required=False, label="From (time, UTC)")
    type = forms.CharField(required=False, max_length=200, label="Type")
    key = forms.CharField(required=False, max_length=2_048, strip=False, label="Partition key")

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        text = (given.get("start") or "").strip()
        if "." in text:
            try:
                given["partition"], given["start"] = parse_sequence(text, "start")
            except InvalidField as error:
                raise forms.ValidationError(error.message) from None
        elif text and not (text.isdecimal() and int(text) <= MAX_OFFSET):
            raise forms.ValidationError("From has to be an offset, as 120, or a sequence, as 003.00000000000000000120.")
        else:
            given["start"] = int(text) if text else None
        return given


def browse(request: HttpRequest, topic: Topic, now: TopicNow) -> dict[str, Any]:
    """What the topic's page shows of its events."""
    form = BrowseForm(request.GET or None)
    given = form.cleaned_data if form.is_valid() else {}
    part = _partition(now, given)
    found = _found(topic, part, given)
    start = given.get("start")
    earlier = max(part.oldest, start - LIMIT) if part and start and start > part.oldest else None
    return {"form": form, "part": part, "events": found.events, "next": found.next, "earlier": earlier}


def _partition(now: TopicNow, given: dict[str, Any]) -> PartitionNow | None:
    """A key is looked for in its partition; a type, a time or an offset in one, the first unless another is named."""
    number = given.get("partition")
    if given.get("key"):
        number = partition_for(given["key"], len(now.partitions) or 1)
    if number is None and (given.get("since") or given.get("type") or given.get("start") is not None):
        number = 0
    return next((part for part in now.partitions if part.partition == number), None)


def _found(topic: Topic, part: PartitionNow | None, given: dict[str, Any]) -> SeenPage:
    if part is None:
        return SeenPage(latest(topic.pk, LIMIT), None)
    start, narrowed = given.get("start"), bool(given.get("type") or given.get("key"))
    if start is None and given.get("since"):
        start = offset_since(part, given["since"])
    if start is None:
        start = part.oldest if narrowed else max(part.oldest, part.next - LIMIT)
    return scan(part, start, LIMIT, given.get("type") or None, given.get("key") or None)


def show(request: HttpRequest, topic: Topic, partition: int, offset: int) -> HttpResponse:
    event = _event(topic, partition, offset)
    may_read = may(request, PAYLOADS)
    text = shown_payload(event.body or "") if may_read else ""
    context = {
        "topic": topic,
        "event": event,
        "may_read": may_read,
        "payload": text[:SHOWN_CHARACTERS] if event.is_record else _readable(text),
        "is_cut": len(text) > SHOWN_CHARACTERS,
    }
    return page(request, "topics/event.html", f"Event {event.sequence}", context)


def _readable(text: str) -> str:
    """Set out in lines, unless that would be cut."""
    lines = indented(text) if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS]
    return lines if len(lines) <= 4 * SHOWN_CHARACTERS else text


def raw(request: HttpRequest, topic: Topic, partition: int, offset: int) -> HttpResponse:
    """Byte for byte what is stored (but for hidden fields), as plain text whatever it is."""
    demand(request, PAYLOADS)
    event = _event(topic, partition, offset)
    headers = {"Content-Disposition": f'inline; filename="{event.sequence}.txt"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(shown_payload(event.body or "").encode(), content_type="text/plain; charset=utf-8", headers=headers)


def _event(topic: Topic, partition: int, offset: int) -> Seen:
    event = one(topic.pk, partition, offset) if partition < topic.partitions and offset <= MAX_OFFSET else None
    if event is None:
        raise Http404
    return event
