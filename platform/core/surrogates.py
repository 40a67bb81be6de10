"""Lone surrogates in opaque JSON: kept as they were sent, though the decoder refuses the whole body for them."""

import re
from typing import Any, TypeVar

import msgspec

Decoded = TypeVar("Decoded")

# Escapes are consumed whole and from the left, so that an escaped backslash before `ud83d` is none of them.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)

_SECOND = {bytes([digit]): bytes([mask]) for digit, mask in zip(b"89abcdef", b"01234567", strict=True)}


def decode(raw: bytes, decoder: msgspec.json.Decoder[Decoded]) -> Decoded:
    """Decodes with every lone surrogate masked by an escape of the same length, and puts back what opaque fields held."""
    masked = _ESCAPE.sub(lambda found: _mask(found[1]) if found[1] else found[0], raw)
    restored: Decoded = _Restoring(raw, masked).restored(decoder.decode(masked))[0]
    return restored


def _mask(escape: bytes) -> bytes:
    """`ud83d` becomes `ue03d`: a private character for each surrogate, so that different texts stay different."""
    return b"\\u" + (b"e" if escape[1:2] == b"d" else b"E") + _SECOND[escape[2:3].lower()] + escape[3:]


class _Restoring:
    """Finds each opaque slice in the masked text, from where its object begins, and takes the same place of the raw one."""

    def __init__(self, raw: bytes, masked: bytes) -> None:
        self._raw, self._masked = raw, masked

    def restored(self, value: Any, begin: int = 0) -> tuple[Any, int]:
        """The value as it was sent, and where it ends."""
        match value:
            case msgspec.Raw():
                at, length = self._masked.find(bytes(value), begin), len(bytes(value))
                # What stands nowhere is a default.
                return (value, begin) if at < 0 else (msgspec.Raw(self._raw[at : at + length]), at + length)
            case msgspec.Struct():
                fields, end = self.restored(msgspec.structs.asdict(value), begin)
                return msgspec.structs.replace(value, **fields), end
            case dict():
                found = {name: self.restored(item, begin) for name, item in value.items()}
                last = max((end for _, end in found.values()), default=begin)
                return {name: item for name, (item, _) in found.items()}, last
            case list():
                items = []
                for item in value:
                    item, begin = self.restored(item, begin)
                    items.append(item)
                return items, begin
        return value, begin
