"""A channel: publish, snapshot, replay, logs, delete."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.channels.api.authentication import FollowerAuthentication, grant_of
from apps.channels.api.schemas import streams as schemas
from apps.channels.names import existing_channel
from apps.channels.operations import logs
from apps.channels.operations.delete import delete
from apps.channels.operations.publish import Target, publish
from apps.channels.selectors import channels, reading
from core import http, parse
from core.clock import rfc3339
from core.openapi import answered, problem, query_of, sent

EVENT = {
    "id": "019ad0a6-6a4c-7c1e-b0f3-5d8a0c6f2b11",
    "sequence": 8,
    "type": "job.succeeded",
    "time": "2026-11-29T12:00:00.000000Z",
    "channel": "job:42",
    "data": {"exitCode": 0},
}
POSITION = {"sequence": 8, "cursor": "8"}
REVOKED = problem("FORBIDDEN", "ACCESS_REVOKED")


class ManyChannels(APIView):
    scopes = {"POST": "write:channels"}

    @extend_schema(
        operation_id="publish_to_channels",
        request=schemas.PublishToMany,
        responses={201: schemas.PublishedToMany},
        examples=[
            sent(
                "A job and its application",
                {
                    "type": "job.started",
                    "data": {"by": "ana"},
                    "targets": [
                        {"channel": "job:42", "documents": {"job": {"state": "running"}}},
                        {"channel": "application:7", "documents": {"jobs": {"42": {"state": "running"}}}},
                    ],
                },
            ),
            answered(
                "Published", {"id": EVENT["id"], "targets": [{"channel": "job:42", **POSITION, "duplicate": False}]}, 201
            ),
        ],
    )
    def post(self, request: Request) -> HttpResponse:
        """Publishes one event to at most 20 channels, to all or none. A channel that knows the id answers its position."""
        body = parse.body(request._request, schemas.PublishToMany)
        targets = schemas.targets(body)
        caller(request).require("write:channels", *(target.channel for target in targets))
        done = publish(targets, **schemas.event_fields(body))
        return http.answer(request._request, schemas.published_to_many(done), 201)


class OneChannel(APIView):
    scopes = {"GET": "read:channels", "DELETE": "manage:channels"}

    @extend_schema(operation_id="get_channel", responses={200: schemas.OneChannel})
    def get(self, request: Request, channel: str) -> HttpResponse:
        """Where the channel stands."""
        caller(request).require("read:channels", channel)
        found = channels.find(channel)
        shown = {
            "channel": found.name,
            "kind": found.kind.name,
            "sequence": found.last_sequence,
            "oldestSequence": found.oldest_sequence,
            "liveConnections": channels.live_connections([channel])[channel],
            "createdAt": rfc3339(found.created_at),
            "publishedAt": found.published_at and rfc3339(found.published_at),
        }
        return http.answer(request._request, shown)

    @extend_schema(operation_id="delete_channel", responses={204: None})
    def delete(self, request: Request, channel: str) -> HttpResponse:
        """Removes events, documents and logs, and takes a sequence: every older cursor but 0 is expired."""
        caller(request).require("manage:channels", channel)
        delete(caller(request), existing_channel(channel))
        return http.no_content(request._request)


class Snapshot(APIView):
    authentication_classes = (FollowerAuthentication,)  # type: ignore[assignment]
    scopes = {"GET": "read:channels"}

    @extend_schema(
        operation_id="snapshot",
        responses={200: schemas.ChannelSnapshot, 403: REVOKED},
        examples=[answered("A job", {"data": {"job": {"state": "running"}}, "sequence": 7, "cursor": "7"})],
    )
    def get(self, request: Request, channel: str) -> HttpResponse:
        """The documents of the channel and the sequence they reflect, of one instant."""
        caller(request).require("read:channels", channel)
        found = reading.snapshot(existing_channel(channel), grant_of(caller(request)))
        return http.answer(request._request, schemas.snapshot(found))


class Events(APIView):
    authentication_classes = (FollowerAuthentication,)  # type: ignore[assignment]
    scopes = {"GET": "read:channels", "POST": "write:channels"}

    @extend_schema(
        operation_id="replay",
        parameters=query_of(schemas.ReplayQuery),
        responses={200: schemas.Replay, 403: REVOKED, 410: problem("CURSOR_EXPIRED")},
        examples=[answered("A page", {"events": [EVENT], "cursor": "8", "more": False})],
    )
    def get(self, request: Request, channel: str) -> HttpResponse:
        """Events after a cursor, in order and without a gap. 410 when some are gone: start again from a snapshot."""
        caller(request).require("read:channels", channel)
        query = parse.query(request._request, schemas.ReplayQuery)
        page = reading.replay(existing_channel(channel), query.after, query.limit, grant_of(caller(request)))
        return http.answer(request._request, schemas.replay(page, channel, query.after))

    @extend_schema(
        operation_id="publish_to_channel",
        request=schemas.Publish,
        responses={201: schemas.Published},
        examples=[
            sent("With its document", {"type": "job.started", "documents": {"job": {"state": "running"}}}),
            answered("Published", {"id": EVENT["id"], **POSITION}, status=201),
        ],
    )
    def post(self, request: Request, channel: str) -> HttpResponse:
        """Publishes an event and changes documents with it. A repeated `id` answers the first position."""
        caller(request).require("write:channels", channel)
        body = parse.body(request._request, schemas.Publish)
        done = publish([Target(existing_channel(channel), body.documents)], **schemas.event_fields(body))
        at = done.positions[0]
        location = {"Location": f"/v1/streams/{at.channel}/events?after={at.sequence - 1}&limit=1"}
        return http.answer(request._request, {"id": done.id, **schemas.position(at)}, 201, location)


class Logs(APIView):
    authentication_classes = (FollowerAuthentication,)  # type: ignore[assignment]
    scopes = {"GET": "read:channels", "POST": "write:channels"}

    @extend_schema(
        operation_id="read_channel_logs",
        parameters=query_of(schemas.LogsQuery),
        responses={200: schemas.LogPage, 403: REVOKED, 410: problem("CURSOR_EXPIRED")},
    )
    def get(self, request: Request, channel: str) -> HttpResponse:
        """Log lines after a cursor. They are kept for longer than events."""
        caller(request).require("read:channels", channel)
        query = parse.query(request._request, schemas.LogsQuery)
        lines, more = reading.lines(existing_channel(channel), query.after, query.limit, grant_of(caller(request)))
        return http.answer(request._request, schemas.log_page(lines, query.after, more))

    @extend_schema(
        operation_id="append_channel_logs",
        request=schemas.AppendLogs,
        responses={201: schemas.Logged},
        examples=[
            sent("A line", {"lines": [{"message": "started", "level": "info", "fields": {"step": 1}}]}),
            answered("Appended", {"accepted": 1, "cursor": "1"}, status=201),
        ],
    )
    def post(self, request: Request, channel: str) -> HttpResponse:
        """Appends log lines, all or none."""
        caller(request).require("write:channels", channel)
        body = parse.body(request._request, schemas.AppendLogs)
        last, count = logs.append(existing_channel(channel), schemas.log_lines(body)), len(body.lines)
        location = {"Location": f"/v1/streams/{channel}/logs?after={last - count}&limit={count}"}
        return http.answer(request._request, {"accepted": count, "cursor": str(last)}, 201, location)
