"""The live side of a channel, as Server-Sent Events."""

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.channels.api.authentication import LiveAuthentication, grant_of, token_of
from apps.channels.api.schemas.streams import LiveQuery
from apps.channels.api.views.streams import REVOKED
from apps.channels.live.follower import Follower
from apps.channels.names import existing_channel
from apps.channels.selectors import reading
from core import parse
from core.openapi import query_of
from core.streams import Stream, stream_from

LAST_EVENT_ID = OpenApiParameter("Last-Event-ID", str, OpenApiParameter.HEADER, description="What a browser saw last.")
HEADERS = {
    "Cache-Control": "no-store, no-transform",  # a compressing proxy would hold events back
    "X-Accel-Buffering": "no",
}


class Live(APIView):
    authentication_classes = (LiveAuthentication,)  # type: ignore[assignment]
    scopes = {"GET": "read:channels"}

    @extend_schema(
        operation_id="live",
        parameters=[*query_of(LiveQuery), LAST_EVENT_ID],
        responses={(200, "text/event-stream"): OpenApiResponse(str, description="Events as they come."), 403: REVOKED},
    )
    def get(self, request: Request, channel: str) -> HttpResponse:
        """`: joined` once subscribed, then events as they come: at least once, unordered, lossy. Replay is the truth."""
        caller(request).require("read:channels", channel)
        parse.query(request._request, LiveQuery)
        grant = grant_of(caller(request))
        now, seconds = reading.read(existing_channel(channel), 0, 0, grant)
        seen = request.headers.get("Last-Event-ID", "")
        follower = Follower(channel, grant or token_of(request), now.last, seconds, seen)
        if request.method == "GET":
            stream_from(request._request, Stream(follower.run))
        return HttpResponse(content_type="text/event-stream", headers=HEADERS)
