"""Kinds of channels: which documents they have and what is kept. The API makes and changes them."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from apps.channels.models import ChannelKind
from core.admin import RuntimeAdmin
from core.words import age, count, moment, size


@admin.register(ChannelKind)
class KindAdmin(RuntimeAdmin):
    list_display = ("name", "documents_kept", "events_kept", "logs_kept")
    search_fields = ("name",)
    ordering = ("name",)

    def show(self, request: HttpRequest, row: ChannelKind) -> HttpResponse:
        kept = [("documents", self.documents_kept(row)), ("events are kept", self.events_kept(row))]
        shown = [("name", row.name), *kept, ("logs are kept", self.logs_kept(row)), ("made", moment(row.created_at))]
        return self.page(request, "console/row.html", f"Kind of channels {row.name}", {"shown": shown})

    @display(description="documents")
    def documents_kept(self, kind: ChannelKind) -> str:
        return ", ".join(f"{key} ({form})" for key, form in kind.documents.items())

    @display(description="events are kept")
    def events_kept(self, kind: ChannelKind) -> str:
        limits = [
            f"the last {count(kind.events_records)}" if kind.events_records else "",
            f"for {age(kind.events_seconds)}" if kind.events_seconds else "",
            f"up to {size(kind.events_bytes)}" if kind.events_bytes else "",
        ]
        return ", ".join(filter(None, limits)) or "for ever"

    @display(description="logs are kept")
    def logs_kept(self, kind: ChannelKind) -> str:
        return f"for {age(kind.logs_seconds)}"
