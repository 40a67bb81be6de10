"""Moving a consumer group; letting go of cold events."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.cursors.api.schemas import Seek, Sought
from apps.cursors.api.views.reach import reach
from apps.leases.api.schemas import ExpireCold as ExpireColdBody
from apps.leases.api.schemas import Expired
from apps.leases.operations.retain import expire_cold
from apps.leases.operations.seek import seek_group
from apps.topics.api.views.names import name_for
from apps.topics.selectors.log import topic_row
from core import parse
from core.clock import parse_time
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


class ExpireCold(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="expire_cold",
        request=ExpireColdBody,
        responses=Expired,
        examples=[sent("What is older than this", {"before": "2026-11-01T00:00:00Z"})],
    )
    def post(self, request: Request, topic: str) -> HttpResponse:
        """Lets go of whole segments whose last record is older, also before a reader that has not read them.

        They cannot be read from now on; their objects go ten minutes later at the earliest.
        """
        parse.no_query(request._request)
        name = name_for(caller(request), "manage:events", topic)
        before = parse_time(parse.body(request._request, ExpireColdBody).before, "before")
        return answer(request._request, Expired(segments=expire_cold(caller(request), topic_row(name), before)))
