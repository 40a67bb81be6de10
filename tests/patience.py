"""How tests wait: for something to become true, with so much patience that a machine which stops for seconds fails none."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0


def until(true: Callable[[], Any], seconds: float = PATIENCE, what: object = "") -> Any:
    """What it answered once that was true. A limit below PATIENCE is not kept: it would only prove a quick machine."""
    patience = max(seconds, PATIENCE)
    end = time.monotonic() + patience
    while not (found := true()):
        assert time.monotonic() < end, f"not within {patience:.0f} s: {what or true}"
        time.sleep(0.01)
    return found


async def eventually(true: Callable[[], Any], what: object = "") -> Any:
    """`until` beside other clients of one event loop; asks in a thread."""
    end = time.monotonic() + PATIENCE
    while not (found := await asyncio.to_thread(true)):
        assert time.monotonic() < end, f"not within {PATIENCE:.0f} s: {what or true}"
        await asyncio.sleep(0.01)
    return found
