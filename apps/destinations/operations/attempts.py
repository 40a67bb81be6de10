"""Requests to webhooks, remembered for 7 days."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.destinations.webhooks.client import Reply
from apps.destinations.webhooks.message import Message
from core import sql
from core.ids import uuid7

RECORD_ATTEMPTS = sql.statement(__file__, "record_attempts")


@dataclass(frozen=True)
class Attempt:
    kind: str
    """delivery | test | resend"""
    message: Message
    attempt: int
    reply: Reply


def record(topic_id: int, consumer_id: int, attempts: Sequence[Attempt]) -> None:
    """`at` is when each began: requests of one lease follow each other."""
    sql.run((RECORD_ATTEMPTS, {"topic": topic_id, "consumer": consumer_id, **_columns(attempts)}))


def _columns(attempts: Sequence[Attempt]) -> dict[str, list[Any]]:
    replies = [each.reply for each in attempts]
    ages = [sum(reply.milliseconds for reply in replies[number:]) for number in range(len(replies))]
    return {
        "ids": sorted(uuid7() for _ in attempts),
        "ages": ages,
        "kinds": [each.kind for each in attempts],
        "webhook_ids": [each.message.webhook_id for each in attempts],
        "events": [each.message.events for each in attempts],
        "attempts": [each.attempt for each in attempts],
        "statuses": [reply.status for reply in replies],
        "errors": [reply.error for reply in replies],
        "milliseconds": [reply.milliseconds for reply in replies],
        "answers": [reply.shown for reply in replies],
    }
