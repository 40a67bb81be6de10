"""Hears the notices of publishers; while it cannot, the forwarder still looks every few seconds."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import psycopg

from core import notices

PROOF_SECONDS = 10.0
MAX_PAUSE_SECONDS = 5.0

logger = logging.getLogger(__name__)


async def listen(parameters: dict[str, Any], hear: Callable[[str], None], hear_again: Callable[[], None]) -> None:
    """For ever; `hear_again` whenever it begins to hear, since what was said before is lost. Logs once an outage."""
    pause, lost = 0.1, False
    while True:
        try:
            await _listen(parameters, hear, hear_again)
        except (psycopg.Error, OSError, TimeoutError) as error:
            if not lost:
                logger.warning("forward.deaf", extra={"reason": str(error).split("\n")[0]})
            lost = True
        await asyncio.sleep(pause)
        pause = min(pause * 2, MAX_PAUSE_SECONDS)


async def _listen(parameters: dict[str, Any], hear: Callable[[str], None], hear_again: Callable[[], None]) -> None:
    timeouts = {"connect_timeout": 5, "application_name": "towpath forward listener"}
    connection = await psycopg.AsyncConnection.connect(**{**parameters, **timeouts}, autocommit=True)
    async with connection:
        await connection.execute(f"LISTEN {notices.CHANNEL}")
        hear_again()
        while True:
            async for notice in connection.notifies(timeout=PROOF_SECONDS):
                for key, _ in notices.parse(notice.payload):
                    hear(key)
            async with asyncio.timeout(PROOF_SECONDS):
                await connection.execute("SELECT 1")
