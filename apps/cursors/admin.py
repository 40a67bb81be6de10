"""Consumer groups as administrators see them: where each stands, and who holds what."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display
from unfold.views import ChangeList

from apps.cursors.models import Group
from apps.cursors.selectors.groups import Place, standing
from core import words
from core.admin import RuntimeAdmin


class GroupList(ChangeList):
    def get_results(self, request: HttpRequest) -> None:
        """Adds to the rows of this page where they stand."""
        super().get_results(request)
        self.result_list = list(self.result_list)
        found = standing(self.result_list)
        for row in self.result_list:
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
        context = {"group": row, "places": standing([row])[row.consumer_id]}
        return self.page(request, "cursors/group.html", f"Consumer group {row.name}", context)


def _places(row: Group) -> list[Place]:
    places: list[Place] = row.__dict__.get("places", [])
    return places
