"""A dead letter edited and sent again as a new event; the dead one goes after that. For an instant both are there."""

from uuid import UUID

from django.conf import settings
from django.db import transaction

from apps.access import audit
from apps.destinations.models import Destination
from apps.destinations.operations import dead_letters
from apps.leases.errors import AlreadyRedriven
from apps.leases.models import DeadLetter, Death
from apps.queues.models import QueueEvent
from apps.queues.operations import dead_letters as queue_dead_letters
from apps.queues.operations.enqueue import NewEvent, enqueue
from apps.queues.selectors import queue_of
from apps.topics.operations.append_one import append_one
from core import parse
from core.errors import InvalidField, NotFound, TooLarge


def resubmit_letter(actor: audit.Actor, destination: Destination, letter: DeadLetter, text: str, reason: str) -> str:
    """A new event of the topic, for all its readers; returns its sequence. Raises what publishing raises, InvalidField."""
    if letter.state != Death.DEAD:
        raise AlreadyRedriven()
    made = append_one(destination.topic.name, text)
    with transaction.atomic():
        audit.record(
            actor, "resubmit", "dead-letter", destination.name,
            object_id=letter.id, after={"sequence": made}, reason=reason,
        )  # fmt: skip
        dead_letters.discard(actor, str(destination.uid), letter.id, reason=f"resubmitted as {made}: {reason}")
    return made


@transaction.atomic
def resubmit_event(actor: audit.Actor, number: int, event: UUID, text: str, reason: str) -> UUID:
    """A new event of the queue, with priority and key of the dead one; returns its id. Raises NotFound, InvalidField."""
    queue = queue_of(number)
    dead = QueueEvent.objects.filter(queue_id=number, id=event, state="dead").first()
    if dead is None:
        raise NotFound("There is no such dead letter.")
    (made,) = enqueue(queue, [NewEvent(_payload(text), priority=dead.priority, group_key=dead.group_key)])
    audit.record(actor, "resubmit", "queue-event", queue.name, object_id=event, after={"id": str(made.id)}, reason=reason)
    queue_dead_letters.discard(actor, queue, event, ["dead"], f"resubmitted as {made.id}: {reason}")
    return made.id


def _payload(text: str) -> str:
    """What the API would take. Raises InvalidJson, InvalidField, TooLarge."""
    payload, most = text.strip(), settings.TOWPATH["MAX_EVENT_BYTES"]
    if not isinstance(parse.load(payload.encode()), parse.Pairs):
        raise InvalidField("Must be a JSON object.", field="payload")
    if len(payload.encode()) > most:
        raise TooLarge(f"A payload has at most {most} bytes.", field="payload", max=most)
    return payload
