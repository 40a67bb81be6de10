"""Which partition a key belongs to: `fnv1a-utf16-v1`, bit for bit what a producer in JavaScript computes."""

from functools import lru_cache
from struct import unpack

_OFFSET_BASIS = 2_166_136_261
_PRIME = 16_777_619


@lru_cache(maxsize=65_536)
def partition_for(key: str, partitions: int) -> int:
    """FNV-1a over the UTF-16 code units of `key`, as a signed 32-bit number's absolute value, modulo `partitions`."""
    if not key:
        # JavaScript's start value is a double that no operation has cut to 32 bits yet.
        return _OFFSET_BASIS % partitions
    hashed = _OFFSET_BASIS
    for unit in _code_units(key):
        hashed = (hashed ^ unit) * _PRIME & 0xFFFFFFFF
    return abs(hashed - 0x1_0000_0000 if hashed & 0x8000_0000 else hashed) % partitions


def _code_units(key: str) -> bytes | tuple[int, ...]:
    if key.isascii():
        return key.encode()
    wide = key.encode("utf-16-le", "surrogatepass")
    return unpack(f"<{len(wide) // 2}H", wide)
