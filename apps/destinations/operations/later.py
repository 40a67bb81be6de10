"""What the contract names and a later version brings. Refused here alone: whoever builds it deletes this file."""

from apps.destinations.models import Type
from core.errors import InvalidField


def refuse_what_comes_later(kind: str) -> None:
    """Raises InvalidField for types that push."""
    if kind == Type.WEBHOOK:
        raise InvalidField(f"Destinations of type {kind} come with a later version.", field="type")
