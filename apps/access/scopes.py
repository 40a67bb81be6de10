"""Scopes and the patterns that narrow them: what a credential may do, and to which names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Q

from core.errors import Forbidden, InvalidField, NotFound

AREAS = ("events", "queues", "channels")
SCOPES = tuple(f"{verb}:{area}" for area in AREAS for verb in ("read", "write", "manage"))
ANY_MANAGE = tuple(f"manage:{area}" for area in AREAS)
NO_NAME = re.compile("(?!)")

_PATTERN = re.compile(r"[A-Za-z0-9._:*-]{1,200}(/[A-Za-z0-9._:*-]{1,200})?", re.ASCII)


@dataclass(frozen=True)
class Grant:
    scope: str
    patterns: tuple[str, ...] = ()
    """Empty: every name."""


def check_grants(grants: Iterable[Grant]) -> tuple[Grant, ...]:
    """The grants themselves. Raises InvalidField for an unknown scope, a pattern no name could match, or none at all."""
    checked = tuple(grants)
    if not checked:
        raise InvalidField("At least one scope is needed.", field="scopes")
    for grant in checked:
        if grant.scope not in SCOPES:
            raise InvalidField(f"There is no scope {grant.scope!r}; there are: {', '.join(SCOPES)}.", field="scopes")
        for pattern in grant.patterns:
            if not _PATTERN.fullmatch(pattern):
                raise InvalidField(
                    f"{pattern!r} is no pattern of names such as orders.* or orders/billing-*.", field="patterns"
                )
    return checked


def matches(pattern: str, name: str) -> bool:
    """`*` is any run of characters, case counts; a pattern without `/` covers a topic and all its groups (`topic/group`)."""
    return _compiled(as_regex([pattern])).fullmatch(name) is not None


def as_regex(patterns: Iterable[str]) -> str:
    """One regular expression for all the patterns, understood by Python and PostgreSQL alike."""
    return f"^(?:{'|'.join(map(_one_regex, patterns))})$"


def _one_regex(pattern: str) -> str:
    topic, slash, group = (part.replace(".", r"\.").replace("*", "[^/]*") for part in pattern.partition("/"))
    return f"{topic}/{group}" if slash else f"{topic}(?:/.*)?"


@lru_cache(maxsize=4096)
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.DOTALL)


@dataclass(frozen=True)
class Principal:
    """Who asks: the API key, OAuth client or channel grant behind a bearer token, and what it may do."""

    kind: str
    id: UUID
    name: str
    grants: tuple[Grant, ...]

    is_authenticated = True

    @cached_property
    def _reach(self) -> dict[str, re.Pattern[str] | None]:
        """For each scope the names it reaches; None: all of them."""
        patterns: dict[str, list[str]] = {}
        for grant in self.grants:
            patterns.setdefault(grant.scope, []).extend(grant.patterns or ["*/*", "*"])
        return {scope: None if "*" in found else _compiled(as_regex(found)) for scope, found in patterns.items()}

    def has(self, *scopes: str) -> bool:
        """Whether one of the scopes is held, for some name."""
        return not self._reach.keys().isdisjoint(scopes)

    def allows(self, scope: str, name: str) -> bool:
        names = self._reach.get(scope, NO_NAME)
        return names is None or names.fullmatch(name) is not None

    def require(self, scope: str, *names: str) -> None:
        """Raises Forbidden when the scope is lacking, NotFound when a name is outside it (as if it did not exist)."""
        if scope not in self._reach:
            raise Forbidden(f"This needs the scope {scope}.", scope=scope)
        for name in names:
            if not self.allows(scope, name):
                raise NotFound()

    def require_target(self, scope: str, template: str) -> None:
        """As require, for a name with placeholders such as `job:{subject}`: whatever comes for them has to be reached.

        So a pattern has to reach everything that begins with the fixed part: it matches that part and ends with `*`.
        """
        prefix, placeholder, _ = template.partition("{")
        if not placeholder:
            return self.require(scope, template)
        self.require(scope)
        if self._reach[scope] is not None and not any(
            pattern.endswith("*") and matches(pattern, prefix)
            for grant in self.grants
            if grant.scope == scope
            for pattern in grant.patterns
        ):
            raise NotFound()

    def names(self, scope: str) -> str | None:
        """What a list may show: a regular expression for SQL (`name ~ %(names)s`), None for every name."""
        names = self._reach.get(scope, NO_NAME)
        return names and names.pattern

    def named(self, scope: str, field: str = "name") -> Q:
        """What a list may show, as a filter for the ORM."""
        regex = self.names(scope)
        return Q() if regex is None else Q(**{f"{field}__regex": regex})


def grants_from_json(stored: Sequence[Any]) -> tuple[Grant, ...]:
    return tuple(Grant(grant["scope"], tuple(grant["patterns"])) for grant in stored)


def grants_as_json(grants: Iterable[Grant]) -> list[dict[str, Any]]:
    return [{"scope": grant.scope, "patterns": list(grant.patterns)} for grant in grants]
