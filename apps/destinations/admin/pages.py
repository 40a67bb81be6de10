"""The list of destinations and the page of one."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RelatedDropdownFilter
from unfold.decorators import display
from unfold.views import ChangeList

from apps.destinations.admin import cells, letters, one, pausing, seeking, sending, tending
from apps.destinations.admin.cells import Row
from apps.destinations.admin.matching import matching
from apps.destinations.models import Destination, Type
from apps.destinations.selectors.cause import STATES
from apps.destinations.selectors.standing import in_state
from core.admin import LookedUpList, demand, may
from core.csv_file import CsvAdmin


class StateFilter(admin.SimpleListFilter):
    """State is worked out, not stored: this asks where every destination stands, which is one query."""

    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Destination]) -> QuerySet[Destination]:
        if self.value() not in STATES:
            return queryset
        matching, found = in_state(queryset, str(self.value()))
        request.standings = found  # type: ignore[attr-defined]  # the list shows the same, and need not ask again
        return matching


class DestinationList(LookedUpList):
    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        """Adds to the rows of this page where they stand."""
        found = cells.rows(rows, getattr(request, "standings", None))
        for row in rows:
            row.shown = found.get(row.pk)
        self.matching = matching(request.GET)


@admin.register(Destination)
class DestinationAdmin(CsvAdmin):
    list_display = ("who", "state", "lag", "in_flight", "last", "topic_link")
    list_filter = (StateFilter, ("type", ChoicesDropdownFilter), ("topic", RelatedDropdownFilter))
    list_filter_submit = True
    list_select_related = ("topic",)
    search_fields = ("name", "topic__name")
    actions = ("pause_selected", "resume_selected")
    sortable_by = ("who",)
    list_before_template = "destinations/list_live.html"
    csv_titles = cells.TITLES

    def csv_rows(self, request: HttpRequest, found: QuerySet[Destination]) -> Iterator[tuple[Any, ...]]:
        return cells.plain(found)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # type: ignore[override]
        return DestinationList

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:number>/live/", view(self.live), name="destinations_destination_live"),
            path("<int:number>/pause/", view(self.pause), name="destinations_destination_pause"),
            path("<int:number>/resume/", view(self.resume), name="destinations_destination_resume"),
            path("<int:number>/seek/", view(self.seek), name="destinations_destination_seek"),
            path("<int:number>/leases/<uuid:lease>/expire/", view(self.expire), name="destinations_lease_expire"),
            path("<int:number>/leases/<uuid:lease>/park/", view(self.park), name="destinations_lease_park"),
            path("<int:number>/leases/<uuid:lease>/extend/", view(self.extend), name="destinations_lease_extend"),
            path("<int:number>/letters/<uuid:letter>/redrive/", view(self.redrive), name="destinations_letter_redrive"),
            path("<int:number>/letters/<uuid:letter>/discard/", view(self.discard), name="destinations_letter_discard"),
            path("<int:number>/test/", view(self.test), name="destinations_destination_test"),
            path("<int:number>/resend/", view(self.resend), name="destinations_destination_resend"),
            *super().get_urls(),
        ]

    @display(description="destination", ordering="name")
    def who(self, row: Destination) -> str:
        return format_html('<div class="tp-cell">{}<div class="tp-why">{}</div></div>', row.name, row.get_type_display())

    @display(description="state and cause")
    def state(self, row: Destination) -> str:
        return _cell(row, cells.state)

    @display(description="lag")
    def lag(self, row: Destination) -> str:
        return _cell(row, cells.lag)

    @display(description="in flight / window")
    def in_flight(self, row: Destination) -> str:
        return _cell(row, cells.out)

    @display(description="last seen")
    def last(self, row: Destination) -> str:
        return _cell(row, cells.last)

    @display(description="topic", ordering="topic__name")
    def topic_link(self, row: Destination) -> str:
        return format_html('<a href="?topic__id__exact={}">{}</a>', row.topic_id, row.topic.name)

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return may(request, pausing.PAUSE)

    @admin.action(description="Pause…", permissions=["pause"])
    def pause_selected(self, request: HttpRequest, chosen: QuerySet[Destination]) -> HttpResponse:
        return pausing.pause(request, list(chosen), request.get_full_path(), bulk="pause_selected")

    @admin.action(description="Resume…", permissions=["pause"])
    def resume_selected(self, request: HttpRequest, chosen: QuerySet[Destination]) -> HttpResponse:
        return pausing.resume(request, list(chosen), request.get_full_path(), bulk="resume_selected")

    def pause(self, request: HttpRequest, number: int) -> HttpResponse:
        return pausing.pause(request, [_named(number)], _url(number))

    def resume(self, request: HttpRequest, number: int) -> HttpResponse:
        return pausing.resume(request, [_named(number)], _url(number))

    def seek(self, request: HttpRequest, number: int) -> HttpResponse:
        return seeking.seek(request, _named(number), _url(number))

    def expire(self, request: HttpRequest, number: int, lease: UUID) -> HttpResponse:
        return tending.expire(request, _named(number), lease, _url(number))

    def extend(self, request: HttpRequest, number: int, lease: UUID) -> HttpResponse:
        return tending.extend(request, _named(number), lease, _url(number))

    def park(self, request: HttpRequest, number: int, lease: UUID) -> HttpResponse:
        return tending.park(request, _named(number), lease, _url(number))

    def redrive(self, request: HttpRequest, number: int, letter: UUID) -> HttpResponse:
        return letters.redrive(request, _named(number), letter, _url(number))

    def discard(self, request: HttpRequest, number: int, letter: UUID) -> HttpResponse:
        return letters.discard(request, _named(number), letter, _url(number))

    def test(self, request: HttpRequest, number: int) -> HttpResponse:
        return sending.test(request, _webhook(number), _url(number))

    def resend(self, request: HttpRequest, number: int) -> HttpResponse:
        return sending.again(request, _webhook(number), _url(number))

    def show(self, request: HttpRequest, row: Destination) -> HttpResponse:
        return self.page(request, "destinations/destination.html", f"Destination {row.name}", one.shown(request, row))

    def live(self, request: HttpRequest, number: int) -> HttpResponse:
        """The part of the page that renews itself."""
        demand(request, self.view_permission)
        return render(request, "destinations/destination_live.html", one.shown(request, _named(number)))


def _cell(row: Destination, say: Any) -> str:
    shown: Row | None = row.__dict__["shown"]
    return "being deleted" if shown is None else format_html('<div class="tp-cell">{}</div>', say(shown))


def _named(number: int) -> Destination:
    return get_object_or_404(Destination.objects.select_related("topic"), pk=number)


def _webhook(number: int) -> Destination:
    return get_object_or_404(Destination.objects.select_related("topic"), pk=number, type=Type.WEBHOOK)


def _url(number: int) -> str:
    return reverse("admin:destinations_destination_change", args=[number])
