"""A place in the log as text: partition in three digits, dot, offset in twenty. They sort as offsets do."""

import re

from core.errors import InvalidField

MAX_OFFSET = 2**63 - 1

_SEQUENCE = re.compile(r"(\d{3})\.(\d{20})", re.ASCII)


def sequence(partition: int, offset: int) -> str:
    """`003.00000000000000000120`."""
    return f"{partition:03d}.{offset:020d}"


def sequence_before(partition: int, offset: int) -> str | None:
    """The last offset before `offset`, as `committed` is told; None when there is none."""
    return sequence(partition, offset - 1) if offset > 0 else None


def parse_sequence(text: str, field: str) -> tuple[int, int]:
    """Partition and offset. Raises InvalidField for what no event could have."""
    match = _SEQUENCE.fullmatch(text)
    if match is None or int(match[2]) > MAX_OFFSET or int(match[1]) > 255:
        raise InvalidField("Must be a sequence, as 003.00000000000000000120.", field=field)
    return int(match[1]), int(match[2])
