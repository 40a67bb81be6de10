"""What a forwarder knows of the destinations it works for, read anew every few seconds."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from apps.cursors.models import Consumer, Ordering
from apps.destinations.models import Destination, PushState, Type

PUSHING = (Type.WEBHOOK, Type.QUEUE, Type.CHANNEL)


class Held(Exception):
    """The target cannot take anything right now: nothing is handed out until it can."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass
class Line:
    id: int
    name: str
    type: str
    topic_id: int
    consumer_id: int
    topic_uid: UUID
    in_order: bool
    settings: dict[str, Any]
    held: str | None
    """The code of what holds it, as far as this process knows."""

    @property
    def target(self) -> dict[str, Any]:
        found: dict[str, Any] = self.settings[self.type.lower()]
        return found

    def key(self, sequence: str) -> str:
        """The identity of an event: idempotency key, event id of a channel, webhook-id."""
        return f"{self.topic_uid}/{sequence}"


def lines() -> list[Line]:
    ordered = Consumer.objects.filter(
        topic_id=OuterRef("topic_id"), consumer_id=OuterRef("consumer_id"), ordering=Ordering.PARTITION
    )
    rows = Destination.objects.filter(type__in=PUSHING).values_list(
        "id", "name", "type", "topic_id", "consumer_id", "topic__uid", Exists(ordered), "settings", "push__held_code"
    )
    return [Line(*row) for row in rows]


def hold(line: Line, why: Held) -> None:
    """Says what holds it, for /lag and the console; the time is when that began."""
    line.held = why.code
    state, _ = PushState.objects.get_or_create(destination_id=line.id)
    if (state.held_code, state.held_text) != (why.code, why.text):
        changed = state.held_code != why.code
        PushState.objects.filter(destination_id=line.id).update(
            held_code=why.code, held_text=why.text, **({"held_since": PushState.now()} if changed else {})
        )


def release(line: Line) -> None:
    if line.held is not None:
        PushState.objects.filter(destination_id=line.id).update(held_code=None, held_text="", held_since=None)
        line.held = None
