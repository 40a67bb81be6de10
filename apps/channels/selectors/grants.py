"""Whether a grant opens a channel: never remembered, but asked after the read that it guards and in the same round trip."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from apps.channels.errors import AccessRevoked
from core import sql
from core.errors import NotFound, Unauthenticated

CHECK_GRANT = sql.statement(__file__, "check_grant")
ENDED_GRANTS = sql.statement(__file__, "ended_grants")

Call = tuple[sql.Statement, dict[str, Any]]


def guarded(read: Call, channel: str, grant: UUID | None) -> tuple[list[sql.Row], float | None]:
    """The rows of the read, and for how many seconds the grant goes on. Raises Unauthenticated, AccessRevoked, NotFound."""
    if grant is None:
        return sql.run(read)[0], None
    rows, found = sql.run(read, (CHECK_GRANT, {"name": channel, "grant": grant}))
    state, seconds = found[0] if found else ("expired", 0.0)
    if state == "expired":
        raise Unauthenticated("This grant has expired.")
    if state == "outside":
        raise NotFound("There is no such channel.")
    if state == "revoked":
        raise AccessRevoked()
    return rows, seconds


def ended(held: Sequence[tuple[UUID, str]]) -> set[tuple[UUID, str]]:
    """Of these grants with their channels, which open nothing any more."""
    columns = {"grants": [grant for grant, _ in held], "channels": [channel for _, channel in held]}
    return {(grant, channel) for grant, channel in sql.run((ENDED_GRANTS, columns))[0]}
