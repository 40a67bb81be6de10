"""The arguments --scope and --resource: a --resource narrows the --scope before it."""

from argparse import Action, ArgumentError, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from apps.access.scopes import SCOPES, Grant


class _Scope(Action):
    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: str | Sequence[Any] | None, option: str | None = None
    ) -> None:
        namespace.grants = [*(namespace.grants or ()), Grant(str(values))]


class _Resource(Action):
    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: str | Sequence[Any] | None, option: str | None = None
    ) -> None:
        if not namespace.grants:
            raise ArgumentError(self, "narrows the --scope before it, and there is none")
        *others, narrowed = namespace.grants
        namespace.grants = [*others, Grant(narrowed.scope, (*narrowed.patterns, str(values)))]


def add_grants(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="a name for lists and the audit trail")
    scopes = f"may be repeated; one of {', '.join(SCOPES)}"
    parser.add_argument("--scope", dest="grants", action=_Scope, required=True, help=scopes)
    narrows = "a pattern of names such as 'orders.*'; narrows the --scope before it"
    parser.add_argument("--resource", dest="grants", action=_Resource, help=narrows)
