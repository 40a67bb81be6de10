"""What became of the events of one partition in one append."""

from dataclasses import dataclass

from apps.topics.load import Load
from core.errors import DomainError


@dataclass(frozen=True, slots=True)
class Written:
    offsets: list[int]
    """Of each event in input order; of a duplicate the first one's."""
    duplicates: frozenset[int]
    """Indexes of the events that were there already."""
    next_offset: int
    load: Load


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing of the group was stored, or (Uncertain) that cannot be known."""

    error: DomainError
    load: Load | None = None
    """None: it could not be had."""


Outcome = Written | Refused
