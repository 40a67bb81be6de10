"""Consumer groups as administrators see them: where each stands, who holds what, and moving one."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from unfold.decorators import display
from unfold.views import ChangeList

from apps.access.models import Audit
from apps.cursors.models import Group
from apps.cursors.selectors.groups import Place, standing
from apps.leases.admin import seeking
from apps.leases.operations.seek import seek_group
from apps.topics.selectors.resolve import topic_of_id
from core import words
from core.admin import LookedUpList, RuntimeAdmin, demand, may, person

AUDIT_SHOWN = 20


class GroupList(LookedUpList):
    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        """Adds to the rows of this page where they stand."""
        found = standing(rows)
        for row in rows:
            row.places = found[row.consumer_id]


@admin.register(Group)
class GroupAdmin(RuntimeAdmin):
    list_display = ("name", "topic", "lag", "holders", "made")
    list_filter = ("topic",)
    list_select_related = ("topic",)
    search_fields = ("name",)
    ordering = ("topic_id", "name")
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:  # type: ignore[override]
        return GroupList

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [path("<int:number>/seek/", view(self.seek), name="cursors_group_seek"), *super().get_urls()]

    @display(description="records behind")
    def lag(self, row: Group) -> str:
        return words.count(sum(place.lag for place in _places(row)))

    @display(description="members")
    def holders(self, row: Group) -> str:
        return ", ".join(sorted({place.holder for place in _places(row) if place.holder})) or "none"

    @display(description="created")
    def made(self, row: Group) -> str:
        return words.moment(row.created_at)

    def show(self, request: HttpRequest, row: Group) -> HttpResponse:
        context = {
            "group": row,
            "places": standing([row])[row.consumer_id],
            "may_seek": may(request, seeking.SEEK),
            "audit": _audit(row).order_by("-id")[:AUDIT_SHOWN],
        }
        return self.page(request, "leases/group.html", f"Consumer group {row.name}", context)

    def seek(self, request: HttpRequest, number: int) -> HttpResponse:
        demand(request, seeking.SEEK)
        return seeking.seek(request, _reader(request, get_object_or_404(Group.objects.select_related("topic"), pk=number)))


def _reader(request: HttpRequest, row: Group) -> seeking.Reader:
    return seeking.Reader(
        name=_full_name(row),
        move=partial(seek_group, person(request), topic_of_id(row.topic_id), row.name),
        positions=lambda: {place.partition: place.position for place in standing([row])[row.consumer_id]},
        moves=_audit(row).filter(verb="seek"),
        url=reverse("admin:cursors_group_seek", args=[row.pk]),
        back=reverse("admin:cursors_group_change", args=[row.pk]),
        held="assignment",
        late="a member that commits with its old token is answered FENCED, and is given partitions anew when it renews.",
    )


def _audit(row: Group) -> QuerySet[Audit]:
    """Of this one, not of one before it that had its name."""
    return Audit.objects.filter(object_kind="group", object_name=_full_name(row), at__gte=row.created_at)


def _full_name(row: Group) -> str:
    return f"{row.topic.name}/{row.name}"


def _places(row: Group) -> list[Place]:
    places: list[Place] = row.__dict__.get("places", [])
    return places
