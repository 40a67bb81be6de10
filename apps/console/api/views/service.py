"""What machines ask about this process: is it alive, is it ready, what does it count."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.authentication import BearerAuthentication
from apps.access.api.permissions import HasScope
from apps.access.scopes import ANY_MANAGE, Principal
from apps.console import health, metrics


def healthz(request: HttpRequest) -> HttpResponse:
    """Under the gateway the event loop answers this without asking here."""
    return JsonResponse({"status": "ok"})


class Readiness(APIView):
    authentication_classes = ()
    permission_classes = ()

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        parts = health.report()
        ready = all(part["ok"] for part in parts.values())
        return JsonResponse({"status": "ready" if ready else "not ready", "parts": parts}, status=200 if ready else 503)


class NearOrBearer(BearerAuthentication):
    def authenticate(self, request: Request) -> tuple[Principal, Principal] | None:  # type: ignore[override]
        return None if metrics.is_near(request.META) else super().authenticate(request)


class NearOrScope(HasScope):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.auth is None or super().has_permission(request, view)


class Metrics(APIView):
    authentication_classes = (NearOrBearer,)  # type: ignore[assignment]
    permission_classes = (NearOrScope,)  # type: ignore[assignment]
    scopes = {"GET": ANY_MANAGE}

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(metrics.exposition(), content_type=metrics.CONTENT_TYPE)
