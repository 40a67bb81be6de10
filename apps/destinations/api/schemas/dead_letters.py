"""How dead letters are answered. The event is the text that was kept, spliced in, never parsed."""

from typing import Any

import orjson

from apps.leases.models import DeadLetter
from core.clock import rfc3339
from core.openapi import Answer
from core.sequence import sequence

EXAMPLE: dict[str, Any] = {
    "id": "019ad2f3-9d1c-7f0e-8a2b-6c4d5e7f8a90",
    "sequence": "003.00000000000000000119",
    "state": "dead",
    "leaseId": "019ad2f1-77aa-7c11-9a63-0f5e1c7b2d40",
    "deliveries": 5,
    "deaths": 1,
    "error": "connection to the billing system refused",
    "fingerprint": "5b0f2f2f0c1d9a77",
    "firstSeenAt": "2026-11-29T12:00:00.000000Z",
    "lastSeenAt": "2026-11-29T12:06:00.000000Z",
    "redrivenAt": None,
    "event": {"specversion": "1.0", "id": "8f4d2a1e", "source": "/shop", "type": "order.placed"},
}


class DeadLetterAnswer(Answer):
    id: str
    sequence: str
    state: str
    lease_id: str
    deliveries: int
    deaths: int
    error: str
    fingerprint: str
    first_seen_at: str
    last_seen_at: str
    redriven_at: str | None
    event: dict[str, Any]


def letter_json(letter: DeadLetter, state: str | None = None) -> orjson.Fragment:
    head = {
        "id": str(letter.id),
        "sequence": sequence(letter.partition, letter.offset),
        "state": state or letter.state,
        "leaseId": str(letter.lease_id),
        "deliveries": letter.handouts,
        "deaths": letter.deaths,
        "error": letter.error,
        "fingerprint": letter.fingerprint,
        "firstSeenAt": rfc3339(letter.first_at),
        "lastSeenAt": rfc3339(letter.last_at),
        "redrivenAt": letter.redriven_at and rfc3339(letter.redriven_at),
    }
    return orjson.Fragment(orjson.dumps(head)[:-1] + b',"event":' + letter.body.encode() + b"}")
