"""How requests to a webhook are answered."""

from typing import Any

from apps.destinations.operations.attempts import Attempt
from apps.destinations.selectors.attempts import AttemptRow
from apps.destinations.webhooks.verdict import verdict
from core.clock import rfc3339
from core.openapi import Answer

EXAMPLE: dict[str, Any] = {
    "kind": "test",
    "webhookId": "test_019ad2f3-9d1c-7f0e-8a2b-6c4d5e7f8a90",
    "delivered": True,
    "status": 204,
    "error": None,
    "milliseconds": 31,
    "answer": "",
}


class SentAnswer(Answer):
    kind: str
    webhook_id: str
    delivered: bool
    status: int | None
    error: str | None
    milliseconds: int
    answer: str


class AttemptAnswer(SentAnswer):
    id: str
    at: str
    events: int
    attempt: int


def sent_json(sent: Attempt) -> dict[str, Any]:
    reply = sent.reply
    return {
        "kind": sent.kind,
        "webhookId": sent.message.webhook_id,
        "delivered": verdict(reply).delivered,
        "status": reply.status,
        "error": reply.error,
        "milliseconds": reply.milliseconds,
        "answer": reply.shown,
    }


def attempt_json(row: AttemptRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "at": rfc3339(row.at),
        "kind": row.kind,
        "webhookId": row.webhook_id,
        "events": row.events,
        "attempt": row.attempt,
        "delivered": row.status is not None and 200 <= row.status < 300,
        "status": row.status,
        "error": row.error,
        "milliseconds": row.milliseconds,
        "answer": row.answer,
    }
