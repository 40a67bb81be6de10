"""The list of channels, the page of one, one event, and the page that follows a channel in the browser."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from unfold.contrib.filters.admin import RelatedDropdownFilter
from unfold.decorators import display
from unfold.views import ChangeList

from apps.access.models import Audit
from apps.channels.admin import actions
from apps.channels.models import Channel, ChannelGrant
from apps.channels.operations import grants
from apps.channels.selectors.channels import documents, grants_of, latest_events, live_connections, one_event
from core import masking, payloads
from core.admin import LookedUpList, RuntimeAdmin, demand, may, person
from core.clock import rfc3339
from core.masking import shown_payload
from core.words import ago, count

PAYLOADS = "console.view_payloads"
EVENTS, DOCUMENTS, GRANTS, AUDIT = 50, 50, 50, 20
GRANT_SECONDS = 300


class ChannelList(LookedUpList):
    """One query for the live connections of all channels of the page."""

    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        live = live_connections([channel.name for channel in rows])
        for channel in rows:
            channel.live = live[channel.name]


@admin.register(Channel)
class ChannelAdmin(RuntimeAdmin):
    list_display = ("name", "kind", "sequence", "retained", "connections", "last_event")
    list_display_links = ("name",)
    list_filter = (("kind", RelatedDropdownFilter),)
    list_filter_submit = True
    list_select_related = ("kind",)
    search_fields = ("name",)
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Channel]:
        return super().get_queryset(request).filter(deleted_at=None)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # type: ignore[override]
        return ChannelList

    @display(description="sequence", ordering="last_sequence")
    def sequence(self, channel: Channel) -> str:
        return count(channel.last_sequence)

    @display(description="can be replayed")
    def retained(self, channel: Channel) -> str:
        return kept(channel)

    @display(description="live connections")
    def connections(self, channel: Any) -> str:
        return count(channel.live)

    @display(description="last event", ordering="published_at")
    def last_event(self, channel: Channel) -> str:
        return ago(channel.published_at) if channel.published_at else "none"

    def get_urls(self) -> list[URLPattern]:
        view, name = self.admin_site.admin_view, "channels_channel"
        return [
            path("<int:number>/follow/", view(self.follow), name=f"{name}_follow"),
            path("<int:number>/follow/grant/", view(self.grant), name=f"{name}_grant"),
            path("<int:number>/delete/", view(self.end), name=f"{name}_end"),
            path("<int:number>/events/<int:sequence>/", view(self.event), name=f"{name}_event"),
            path("<int:number>/events/<int:sequence>/raw/", view(self.raw), name=f"{name}_event_raw"),
            path("<int:number>/grants/<uuid:grant>/revoke/", view(self.revoke), name=f"{name}_revoke"),
            path("<int:number>/grants/<uuid:grant>/revoke-all/", view(self.revoke_all), name=f"{name}_revoke_all"),
            *super().get_urls(),
        ]

    def show(self, request: HttpRequest, row: Channel) -> HttpResponse:
        return self.page(request, "channels/channel.html", f"Channel {row.name}", shown(request, row))

    def follow(self, request: HttpRequest, number: int) -> HttpResponse:
        """Followed by the same client that others use, with a grant of the person who looks."""
        demand(request, PAYLOADS)
        channel = self._channel(request, number)
        back = {"list_url": _page_of(number), "list_name": f"channel {channel.name}"}
        context = {"channel": channel, "hidden": sorted(masking.names()), **back}
        return self.page(request, "channels/follow.html", f"Following {channel.name}", context)

    def grant(self, request: HttpRequest, number: int) -> HttpResponse:
        demand(request, PAYLOADS)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if masking.names():
            raise PermissionDenied  # a stream carries what was sent, whatever is hidden here
        channel = self._channel(request, number)
        subject = f"admin:{person(request).get_username()}"[:200]
        made, token = grants.make(person(request), [channel.name], subject, GRANT_SECONDS)
        return JsonResponse({"token": token, "expiresAt": rfc3339(made.expires_at)})

    def end(self, request: HttpRequest, number: int) -> HttpResponse:
        return actions.delete_channel(request, self._channel(request, number))

    def revoke(self, request: HttpRequest, number: int, grant: UUID) -> HttpResponse:
        return actions.revoke_grant(request, self._grant(request, number, grant), _page_of(number))

    def revoke_all(self, request: HttpRequest, number: int, grant: UUID) -> HttpResponse:
        subject = self._grant(request, number, grant).subject
        return actions.revoke_subject(request, self._channel(request, number), subject, _page_of(number))

    def event(self, request: HttpRequest, number: int, sequence: int) -> HttpResponse:
        demand(request, self.view_permission)
        channel, found = self._channel(request, number), _event(number, sequence)
        context = {
            "channel": channel,
            "event": found,
            **payloads.viewed(found.data, may(request, PAYLOADS)),
            "list_url": _page_of(number),
            "list_name": f"channel {channel.name}",
        }
        return self.page(request, "channels/event.html", f"Event {sequence} of {channel.name}", context)

    def raw(self, request: HttpRequest, number: int, sequence: int) -> HttpResponse:
        demand(request, PAYLOADS)
        return payloads.raw(_event(number, sequence).data, sequence)

    def _channel(self, request: HttpRequest, number: int) -> Channel:
        return get_object_or_404(self.get_queryset(request).select_related("kind"), pk=number)

    def _grant(self, request: HttpRequest, number: int, grant: UUID) -> ChannelGrant:
        return get_object_or_404(ChannelGrant, pk=grant, channels__channel=self._channel(request, number).name)


def shown(request: HttpRequest, channel: Channel) -> dict[str, Any]:
    may_read = may(request, PAYLOADS)
    found = documents(channel.pk, DOCUMENTS + 1, payloads.SHOWN_CHARACTERS) if may_read else []
    before = request.GET.get("before", "")
    events = latest_events(channel.pk, EVENTS + 1, *([int(before)] if before.isdecimal() and len(before) < 19 else []))
    return {
        "channel": channel,
        "kept": kept(channel),
        "live": live_connections([channel.name])[channel.name],
        "may_read": may_read,
        "documents": [(document, payloads.readable(shown_payload(document.text))) for document in found[:DOCUMENTS]],
        "more_documents": len(found) > DOCUMENTS,
        "events": events[:EVENTS],
        "earlier": events[EVENTS - 1].sequence if len(events) > EVENTS else None,
        "grants": grants_of(channel.name)[:GRANTS],
        "may_revoke": may(request, actions.REVOKE),
        "may_delete": may(request, actions.DELETE),
        "audit": Audit.objects.filter(object_kind__in=("channel", "grant"), object_name=channel.name).order_by("-id")[
            :AUDIT
        ],
    }


def kept(channel: Channel) -> str:
    """Which events can be replayed."""
    if channel.oldest_sequence > channel.last_sequence:
        return "none"
    return f"{count(channel.oldest_sequence)} to {count(channel.last_sequence)}"


def _event(number: int, sequence: int) -> Any:
    found = one_event(number, sequence) if sequence < 2**63 else None
    if found is None:
        raise Http404
    return found


def _page_of(number: int) -> str:
    return reverse("admin:channels_channel_change", args=[number])
