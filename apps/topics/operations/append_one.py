"""One event that a person wrote, appended as a client's would be."""

from apps.access import audit
from apps.topics.cloudevents.structured import read_one
from apps.topics.operations.append import append
from apps.topics.operations.outcomes import Written
from core.errors import InvalidField
from core.sequence import sequence


def append_one(topic: str, text: str) -> str:
    """A structured CloudEvent; returns its sequence. Raises what publishing raises, and InvalidField for a repeat."""
    appended = append(topic, read_one(text.encode()))
    (partition,) = appended.partitions
    outcome = appended.outcomes[partition]
    if not isinstance(outcome, Written):
        raise outcome.error
    if outcome.duplicates:
        raise InvalidField("An event with this id and source is there already: give it another id.", field="id")
    return sequence(partition, outcome.offsets[0])


def publish_test(actor: audit.Actor, topic: str, text: str, reason: str) -> str:
    """The same on record. The append is a transaction of its own: an event may lack its record, never the reverse."""
    made = append_one(topic, text)
    audit.record(actor, "publish-test", "topic", topic, after={"sequence": made}, reason=reason)
    return made
