"""Scopes and the patterns that narrow them: what a credential may do, and to which names."""

import re
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from core.errors import Forbidden, NotFound

SCOPES = tuple(f"{verb}:{kind}" for kind in ("events", "queues", "channels") for verb in ("read", "write", "manage"))


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)


def matches(pattern: str, name: str) -> bool:
    """`*` is any run of characters, case counts; a pattern without `/` covers a topic and all its groups (`topic/group`)."""
    if "/" not in pattern:
        name = name.partition("/")[0]
    return _compiled(pattern).fullmatch(name) is not None


@dataclass(frozen=True)
class Grant:
    scope: str
    patterns: tuple[str, ...] = ()
    """Empty: every name."""


@dataclass(frozen=True)
class Principal:
    """Who asks: the API key, OAuth application or channel grant behind a bearer token, and what it may do."""

    kind: str
    id: UUID
    name: str
    grants: tuple[Grant, ...]

    def has(self, scope: str) -> bool:
        return any(grant.scope == scope for grant in self.grants)

    def allows(self, scope: str, name: str) -> bool:
        return any(
            grant.scope == scope and (not grant.patterns or any(matches(pattern, name) for pattern in grant.patterns))
            for grant in self.grants
        )

    def require(self, scope: str, *names: str) -> None:
        """Raises Forbidden when the scope is lacking, NotFound when a name is outside it (as if it did not exist)."""
        if not self.has(scope):
            raise Forbidden(f"This needs the scope {scope}.", scope=scope)
        if not all(self.allows(scope, name) for name in names):
            raise NotFound()
