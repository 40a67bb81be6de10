"""One request: an event or a batch of them, as the text they are, under the identity that a repetition has, too."""

from collections.abc import Sequence
from dataclasses import dataclass

ONE, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"


@dataclass(frozen=True)
class Message:
    webhook_id: str
    content_type: str
    body: str
    events: int


def of_event(key: str, event: str) -> Message:
    return Message(key, ONE, event, 1)


def of_batch(key: str, events: Sequence[str]) -> Message:
    """`key` is that of the first; with the count it says which events these are."""
    return Message(f"{key}:{len(events)}", BATCH, f"[{','.join(events)}]", len(events))
