"""Moving a consumer group."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.cursors.api.schemas import Seek, Sought
from apps.cursors.api.views.reach import reach
from apps.leases.operations.seek import seek_group
from core import parse
from core.http import answer
from core.notes import note
from core.openapi import sent


class SeekGroup(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="seek_group",
        request=Seek,
        responses=Sought,
        examples=[sent("Read all again", {"to": "oldest", "reason": "a fixed bug"})],
    )
    def post(self, request: Request, topic: str, group: str) -> HttpResponse:
        """Puts the group elsewhere, or with `dryRun` says what that would do. Members who hold a partition are fenced."""
        parse.no_query(request._request)
        body = parse.body(request._request, Seek)
        found = reach(request, "manage:events", topic, group)
        reason = note(body.reason, "reason")
        sought = seek_group(caller(request), found, group, body.place(), dry_run=body.dry_run, reason=reason)
        return answer(request._request, sought.shown())
