"""From a bearer token to its Principal: no query on a warm path; a revoked one is refused within 5 s everywhere."""

import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass

from django.db import transaction

from apps.access.scopes import Principal, grants_from_json
from core import sql

API_KEY = sql.statement(__file__, "api_key")
TOUCH_API_KEY = sql.statement(__file__, "touch_api_key")
ACCESS_TOKEN = sql.statement(__file__, "access_token")

KEY_MARK = "tpk_"
GRANT_MARK = "tpg_"
PREFIX_LENGTH = 8
CACHE_SECONDS = 4.0  # what is promised is 5: a request may have been let in just before
MAX_CACHED = 10_000


@dataclass(frozen=True)
class _Known:
    principal: Principal
    until: float


_known: dict[bytes, _Known] = {}


def new_key() -> tuple[str, str]:
    """A new API key and its prefix, which is what lists show."""
    prefix = secrets.token_hex(PREFIX_LENGTH // 2)
    return f"{KEY_MARK}{prefix}{secrets.token_urlsafe(32)}", prefix


def digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def principal_of(token: str) -> Principal | None:
    """Whom the token (ASCII) stands for, None when it is unknown, expired or revoked."""
    fingerprint = digest(token)
    known = _known.get(fingerprint)
    if known is not None and known.until > time.monotonic():
        return known.principal
    found = _api_key(token, fingerprint) if token.startswith(KEY_MARK) else _access_token(token)
    if found is None:
        _known.pop(fingerprint, None)
        return None
    principal, seconds_left = found
    if len(_known) >= MAX_CACHED:
        _known.clear()
    _known[fingerprint] = _Known(principal, time.monotonic() + min(CACHE_SECONDS, seconds_left or CACHE_SECONDS))
    return principal


def forget() -> None:
    """After a change of a credential has been committed: this process sees it at once, the others within CACHE_SECONDS."""
    transaction.on_commit(_known.clear)


def _api_key(token: str, fingerprint: bytes) -> tuple[Principal, float | None] | None:
    prefix = token[len(KEY_MARK) : len(KEY_MARK) + PREFIX_LENGTH]
    for number, uid, name, stored, grants, seconds_left, untouched in sql.run((API_KEY, {"prefix": prefix}))[0]:
        if hmac.compare_digest(bytes(stored), fingerprint):
            if untouched:
                sql.run((TOUCH_API_KEY, {"id": number}))
            return Principal("api-key", uid, name, grants_from_json(json.loads(grants))), seconds_left
    return None


def _access_token(token: str) -> tuple[Principal, float | None] | None:
    checksum = hashlib.sha256(token.encode()).hexdigest()
    for uid, name, grants, scope, seconds_left in sql.run((ACCESS_TOKEN, {"checksum": checksum}))[0]:
        asked = scope.split()
        granted = tuple(grant for grant in grants_from_json(json.loads(grants)) if grant.scope in asked)
        return Principal("oauth-client", uid, name, granted), seconds_left
    return None
