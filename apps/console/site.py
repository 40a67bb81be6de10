"""The admin site: Towpath's own face, and the pages that no single model owns."""

from typing import Any

from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from unfold.sites import UnfoldAdminSite

from apps.console.pages import dead_letters, files, leases, overview, resubmit


class ConsoleSite(UnfoldAdminSite):
    index_title = "Overview"
    enable_nav_sidebar = True
    final_catch_all_view = True

    def has_permission(self, request: HttpRequest) -> bool:
        """A staff account sees the console from the moment it has a role."""
        return super().has_permission(request) and request.user.has_perm("console.view_console")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        return overview.show(request)

    def extra_urls(self) -> list[URLPattern]:
        return [
            path("overview/live/", self.admin_view(overview.live), name="overview_live"),
            path("leases/", self.admin_view(leases.show), name="leases"),
            path("leases/csv/", self.admin_view(files.leases_file), name="leases_csv"),
            path("dead-letters/csv/", self.admin_view(files.groups_file), name="dead_letters_csv"),
            path("dead-letters/", self.admin_view(dead_letters.groups), name="dead_letters"),
            path(
                "dead-letters/<int:number>/<slug:fingerprint>/",
                self.admin_view(dead_letters.group),
                name="dead_letter_group",
            ),
            path(
                "dead-letters/<int:number>/<slug:fingerprint>/csv/",
                self.admin_view(files.letters_file),
                name="dead_letter_group_csv",
            ),
            path(
                "dead-letters/<int:number>/letters/<uuid:identifier>/",
                self.admin_view(dead_letters.letter),
                name="dead_letter",
            ),
            path(
                "dead-letters/<int:number>/letters/<uuid:identifier>/resubmit/",
                self.admin_view(dead_letters.resubmit),
                name="dead_letter_resubmit",
            ),
            path(
                "dead-letters/<int:number>/letters/<uuid:identifier>/<slug:verb>/",
                self.admin_view(dead_letters.act),
                name="dead_letter_act",
            ),
            path(
                "dead-letters/queues/<int:number>/<uuid:identifier>/resubmit/",
                self.admin_view(resubmit.event),
                name="resubmit_event",
            ),
        ]
