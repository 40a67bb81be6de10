"""What the contract names and a later version brings. Refused here alone: whoever builds it deletes this file."""

from apps.destinations.models import Type
from core.errors import InvalidField


def refuse_what_comes_later(kind: str, max_deliveries: int) -> None:
    """Raises InvalidField for types that push, and for dead letters."""
    if kind != Type.DURABLE_CONSUMER:
        raise InvalidField(f"Destinations of type {kind} come with a later version.", field="type")
    if max_deliveries > 0:
        raise InvalidField("Dead letters come with a later version; until then 0 (no end).", field="maxDeliveries")
