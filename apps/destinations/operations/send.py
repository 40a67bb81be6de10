"""Sending one request now, outside all leases: a test event, or an event again."""

import asyncio
from uuid import UUID

import orjson
from django.db.models import Q
from django.db.models.functions import Now

from apps.access import audit
from apps.destinations.models import Destination, WebhookSecret
from apps.destinations.operations.attempts import Attempt, record
from apps.destinations.operations.secrets import webhook
from apps.destinations.webhooks.client import Client, Reply
from apps.destinations.webhooks.message import Message, of_event
from apps.destinations.webhooks.signing import signed
from apps.leases import selectors
from core.errors import NotFound
from core.ids import uuid7
from core.sequence import sequence

MOST_SECONDS = 10
"""Somebody waits for the answer, with a thread."""


def send_test(actor: audit.Actor, reference: str) -> Attempt:
    """An event of type `towpath.test`, which is in no topic. Raises NotFound, NotAWebhook."""
    destination = webhook(reference)
    return _send(actor, destination, "test", of_event(f"test_{uuid7()}", _test_event(destination)))


def resend(actor: audit.Actor, reference: str, position: tuple[int, int]) -> Attempt:
    """The event at (partition, offset) under its own identity. Raises NotFound, NotAWebhook."""
    destination = webhook(reference)
    partition, offset = position
    found = selectors.events(destination.topic_id, partition, offset, offset + 1)
    if not found:
        raise NotFound("There is no such event.")
    key = f"{destination.topic.uid}/{sequence(partition, offset)}"
    return _send(actor, destination, "resend", of_event(key, found[0]))


def _send(actor: audit.Actor, destination: Destination, kind: str, message: Message) -> Attempt:
    attempt = Attempt(kind, message, 1, asyncio.run(_post(destination.settings["webhook"], message, _secrets(destination))))
    record(destination.topic_id, destination.consumer_id, [attempt])
    after = {"webhookId": message.webhook_id, "status": attempt.reply.status}
    audit.record(actor, kind, "destination", destination.name, object_id=destination.uid, after=after)
    return attempt


async def _post(target: dict[str, object], message: Message, secrets: list[str]) -> Reply:
    """A client of its own: the kept one belongs to the forwarder's loop."""
    client = Client()
    try:
        headers = {"content-type": message.content_type, **signed(message.webhook_id, message.body, secrets)}
        seconds = min(MOST_SECONDS, int(str(target["timeoutSeconds"])))
        return await client.post(str(target["url"]), message.body.encode(), headers, seconds)
    finally:
        await client.close()


def _secrets(destination: Destination) -> list[str]:
    valid = WebhookSecret.objects.filter(Q(expires_at=None) | Q(expires_at__gt=Now()), destination=destination)
    return list(valid.order_by("-created_at").values_list("secret", flat=True))


def _test_event(destination: Destination) -> str:
    identifier: UUID = uuid7()
    event = {
        "specversion": "1.0",
        "id": str(identifier),
        "source": f"/v1/event-destinations/{destination.name}",
        "type": "towpath.test",
        "data": {"destination": destination.name},
    }
    return orjson.dumps(event).decode()
