"""Browsing a topic: the latest of all partitions, one partition by offset, one event with its payload."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse

from apps.topics.hashing import partition_for
from apps.topics.models import Topic
from apps.topics.selectors.browsing import PartitionNow, Seen, SeenPage, TopicNow, latest, offset_since, one, scan
from core import payloads
from core.admin import demand, may, page
from core.csv_file import MOST, as_file
from core.errors import InvalidField
from core.masking import HIDDEN, shown_field
from core.sequence import MAX_OFFSET, parse_sequence

PAYLOADS = "console.view_payloads"
LIMIT = 50
TITLES = ("sequence", "appended", "kind", "type", "source", "subject", "idOrKey", "partitionKey", "bytes")
AT_ONCE, SCANS = 2_000, 200
"""Of a file: events read at once, and how often at most, where few of them match."""


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
    events = [veiled(event) for event in found.events]
    return {"form": form, "part": part, "events": events, "next": found.next, "earlier": earlier}


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
    return scan(part, _start(part, given, LIMIT), LIMIT, given.get("type") or None, given.get("key") or None)


def _start(part: PartitionNow, given: dict[str, Any], most: int) -> int:
    """Where it was asked to begin; else the oldest, if few of them match, or the latest `most`."""
    start: int | None = given.get("start")
    if start is None and given.get("since"):
        start = offset_since(part, given["since"])
    if start is None:
        start = part.oldest if given.get("type") or given.get("key") else max(part.oldest, part.next - most)
    return start


def file(request: HttpRequest, topic: Topic, now: TopicNow) -> StreamingHttpResponse:
    """What is browsed, further than the page shows at once. Payloads are not in it."""
    demand(request, "console.view_console")
    form = BrowseForm(request.GET or None)
    given = form.cleaned_data if form.is_valid() else {}
    part = _partition(now, given)
    found = latest(topic.pk, MOST) if part is None else _scanned(part, given)
    return as_file(f"{topic.name}-events", TITLES, map(_row, map(veiled, found)))


def _scanned(part: PartitionNow, given: dict[str, Any]) -> Iterator[Seen]:
    start: int | None = _start(part, given, MOST)
    for _ in range(SCANS):
        if start is None:
            return
        found = scan(part, start, AT_ONCE, given.get("type") or None, given.get("key") or None)
        yield from found.events
        start = found.next


def _row(event: Seen) -> tuple[Any, ...]:
    return (
        event.sequence, event.appended_at, "record" if event.is_record else "event", event.type, event.source, event.subject,
        event.key, event.partition_key, event.size,
    )  # fmt: skip


def show(request: HttpRequest, topic: Topic, partition: int, offset: int) -> HttpResponse:
    event = veiled(_event(topic, partition, offset))
    seen = payloads.viewed(event.body, may(request, PAYLOADS), is_json=not event.is_record)
    context = {"topic": topic, "event": event, **seen}
    return page(request, "topics/event.html", f"Event {event.sequence}", context)


def veiled(event: Seen) -> Seen:
    """Attributes are members of the payload too; a partition key may be the same as one of them."""
    stored = {"key" if event.is_record else "id": event.key, "type": event.type, "source": event.source}
    stored["subject"] = event.subject
    shown = [shown_field(name, value) for name, value in stored.items()]
    hidden = [value for value, seen in zip(stored.values(), shown, strict=True) if value != seen]
    place = HIDDEN if event.partition_key in hidden else shown_field("partitionkey", event.partition_key)
    key, type_, source, subject = shown
    return replace(event, key=key, type=type_, source=source, subject=subject, partition_key=place)


def raw(request: HttpRequest, topic: Topic, partition: int, offset: int) -> HttpResponse:
    demand(request, PAYLOADS)
    event = _event(topic, partition, offset)
    return payloads.raw(event.body, event.sequence)


def _event(topic: Topic, partition: int, offset: int) -> Seen:
    event = one(topic.pk, partition, offset) if partition < topic.partitions and offset <= MAX_OFFSET else None
    if event is None:
        raise Http404
    return event
