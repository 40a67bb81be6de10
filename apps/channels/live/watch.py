"""Ends live connections whose credential ended, within 5 s also when no notice tells of it; and says how many there are."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from apps.access import credentials
from apps.channels.operations.grants import NOTICE_KEY
from apps.channels.operations.presence import record
from apps.channels.selectors.grants import ended
from core.errors import DomainError
from core.streams import Backstage

if TYPE_CHECKING:
    from apps.channels.live.follower import Follower
    from apps.channels.live.hall import Hall

# A token that was revoked elsewhere is remembered for up to 4 s (access.credentials); this is what is left of the five.
CHECK_SECONDS = 0.8
GRANTS_EVERY = 2  # rounds
COUNTS_EVERY = 5
SCOPE = "read:channels"

logger = logging.getLogger(__name__)


class Watch:
    def __init__(self, hall: "Hall", backstage: Backstage) -> None:
        self._hall, self._backstage = hall, backstage
        self._said: set[str] = set()
        self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        notices = self._backstage.subscribe(NOTICE_KEY)
        turn = failures = 0
        while True:
            heard = await notices.next(CHECK_SECONDS)
            try:
                await self._look(check_grants=heard is not None or turn % GRANTS_EVERY == 0, count=turn % COUNTS_EVERY == 0)
                failures = 0
            except (DatabaseError, InterfaceError, DomainError) as error:
                # Nothing can be revoked either while the database is away. The log tells once of each outage.
                if not failures:
                    logger.info("live.unchecked", extra={"reason": str(error).split("\n")[0]})
                failures += 1
            except Exception:
                logger.exception("live.watch_failed")
            turn += 1

    async def _look(self, check_grants: bool, count: bool) -> None:
        by_grant: dict[tuple[UUID, str], list[Follower]] = defaultdict(list)
        by_token: dict[tuple[str, str], list[Follower]] = defaultdict(list)
        for follower in self._hall.followers():
            if isinstance(follower.credential, UUID):
                by_grant[follower.credential, follower.channel].append(follower)
            else:
                by_token[follower.credential, follower.channel].append(follower)
        if by_token:
            _end(by_token, await self._backstage.call(refused, list(by_token)))
        if by_grant and check_grants:
            _end(by_grant, await self._backstage.call(ended, list(by_grant)))
        if count:
            await self._count()

    async def _count(self) -> None:
        """Also once more the channels that have none any more."""
        counts = self._hall.counts()
        told = dict(counts) | dict.fromkeys(self._said - counts.keys(), 0)
        if told:
            await self._backstage.call(record, told)
        self._said = set(counts)


def refused(held: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Of these tokens with their channels, which are no longer let in."""
    principals = {token: credentials.principal_of(token) for token in {token for token, _ in held}}
    return {
        (token, channel)
        for token, channel in held
        if (principal := principals[token]) is None or not principal.allows(SCOPE, channel)
    }


def _end(followers: Mapping[Any, "list[Follower]"], keys: set[Any]) -> None:
    for key in keys:
        for follower in followers[key]:
            follower.end()
