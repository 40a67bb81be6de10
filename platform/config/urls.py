"""The contents page: every path of the service, by app."""

from django.contrib import admin
from django.urls import include, path, register_converter
from django.views.generic import RedirectView

from core.converters import Number

register_converter(Number, "number")

urlpatterns = [
    path("", RedirectView.as_view(url="/admin/")),
    path("admin", RedirectView.as_view(url="/admin/")),
    path("admin/", admin.site.urls),
    path("", include("apps.access.api.urls")),
    path("v1/", include("apps.topics.api.urls")),
    path("v1/", include("apps.cursors.api.urls")),
    path("v1/", include("apps.leases.api.urls")),
    path("v1/", include("apps.destinations.api.urls")),
    path("v1/", include("apps.queues.api.urls")),
    path("v1/", include("apps.channels.api.urls")),
    path("", include("apps.console.api.urls")),
]

handler400 = "core.http.bad_request"
handler404 = "core.http.page_not_found"
handler500 = "core.http.server_error"
