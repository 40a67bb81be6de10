"""Views that do nothing: what is left is the way to them."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from rest_framework.views import APIView

from core import http


def plain(request: HttpRequest) -> HttpResponse:
    return HttpResponse(b"{}", content_type="application/json")


class Rest(APIView):
    """As the API's own views: a bearer token, a scope, an answer."""

    scopes = {"GET": "read:events"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return http.answer(request._request, b"{}")  # type: ignore[attr-defined]


urlpatterns = [
    path("v1/plain", plain),
    path("v1/rest", Rest.as_view()),
    path("plain", plain),
    path("", include("config.urls")),
]
handler400 = "core.http.bad_request"
handler404 = "core.http.page_not_found"
handler500 = "core.http.server_error"
