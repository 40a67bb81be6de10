"""The audit trail: who did what to which thing, before → after, and why. Only read."""

import json
from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from apps.access.audit import AREAS
from apps.access.models import Audit
from core import words
from core.admin import may
from core.csv_file import CsvAdmin
from core.masking import shown_payload

PAYLOADS = "console.view_payloads"


class AreaFilter(admin.SimpleListFilter):
    """A fixed list: the values that occur would have to be looked for in the whole trail."""

    title = parameter_name = "area"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(area, area) for area in dict.fromkeys(AREAS.values())]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Audit]) -> QuerySet[Audit]:
        return queryset.filter(area=self.value()) if self.value() else queryset


class KindFilter(admin.SimpleListFilter):
    title = "kind of thing"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in AREAS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Audit]) -> QuerySet[Audit]:
        return queryset.filter(object_kind=self.value()) if self.value() else queryset


@admin.register(Audit)
class AuditAdmin(CsvAdmin):
    list_display = ("when", "who", "verb", "what", "reason", "request_id")
    list_filter = (AreaFilter, KindFilter)
    search_fields = ("=object_name", "=actor_name", "=request_id")
    search_help_text = "Exact name of the thing or person, or a request id"
    ordering = ("-id",)
    csv_titles = ("at", "actor", "actorKind", "verb", "objectKind", "object", "reason", "before", "after", "requestId")

    def csv_rows(self, request: HttpRequest, found: QuerySet[Audit]) -> Iterator[tuple[Any, ...]]:
        may_read = may(request, PAYLOADS)
        for entry in found.iterator(chunk_size=500):
            before, after = _json(_shown(entry.before, may_read)), _json(_shown(entry.after, may_read))
            yield (
                entry.at, entry.actor_name, entry.actor_kind, entry.verb, entry.object_kind, entry.object_name, entry.reason,
                before, after, entry.request_id,
            )  # fmt: skip

    @display(description="when")
    def when(self, entry: Audit) -> str:
        return words.moment(entry.at)

    @display(description="who")
    def who(self, entry: Audit) -> str:
        return f"{entry.actor_name} ({entry.actor_kind})"

    @display(description="what")
    def what(self, entry: Audit) -> str:
        return f"{entry.object_kind} {entry.object_name}"

    def show(self, request: HttpRequest, entry: Audit) -> HttpResponse:
        context = {"entry": entry, "changes": changes(entry, may(request, PAYLOADS))}
        return self.page(request, "access/audit.html", f"{entry.verb} {entry.object_kind} {entry.object_name}", context)


def changes(entry: Audit, may_read: bool) -> list[tuple[str, str, str]]:
    """Each field that was recorded: its name, before, after."""
    before, after = _shown(entry.before, may_read) or {}, _shown(entry.after, may_read) or {}
    return [(name, _said(before, name), _said(after, name)) for name in sorted({*before, *after})]


def _shown(values: dict[str, Any] | None, may_read: bool) -> dict[str, Any] | None:
    """Without what may not be seen: of a schedule the payload is recorded too, as text."""
    if values is None or "payload" not in values:
        return values
    return {**values, "payload": shown_payload(str(values["payload"])) if may_read else "not shown to your role"}


def _said(values: dict[str, Any], name: str) -> str:
    if name not in values:
        return ""
    return values[name] if isinstance(values[name], str) else json.dumps(values[name], ensure_ascii=False)


def _json(values: dict[str, Any] | None) -> str:
    return "" if values is None else json.dumps(values, ensure_ascii=False)
