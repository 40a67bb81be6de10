"""Tokens of grants: `tpg_`, the grant's id, its end, our signature. They open nothing that the database does not confirm."""

from datetime import datetime
from uuid import UUID

from django.core.signing import BadSignature, Signer

from apps.access.credentials import GRANT_MARK

_SALT = "towpath.channels.grant"


def write(grant: UUID, expires_at: datetime) -> str:
    return f"{GRANT_MARK}{_signer().sign(f'{grant.hex}.{int(expires_at.timestamp())}')}"


def read(token: str) -> UUID | None:
    """The grant, None when we have not signed this. Whether it is still in force the database says."""
    try:
        grant, _, _ = _signer().unsign(token.removeprefix(GRANT_MARK)).partition(".")
        return UUID(grant)
    except (BadSignature, ValueError):
        return None


def _signer() -> Signer:
    return Signer(sep=".", salt=_SALT)
