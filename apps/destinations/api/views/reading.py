"""Who reads a topic and how far; moving a destination."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.cursors.api.schemas import Sought
from apps.destinations.api.schemas.answers import ReaderAnswer, reader_json
from apps.destinations.api.schemas.requests import DestinationSeek
from apps.destinations.api.views.configure import reach
from apps.destinations.operations.seek import seek
from apps.destinations.selectors.readers import readers
from apps.topics.api.views.names import topic_for
from apps.topics.selectors.resolve import TopicRef
from core import http, parse
from core.notes import needed_note
from core.openapi import sent


class SeekDestination(APIView):
    scopes = {"POST": "manage:events"}

    @extend_schema(
        operation_id="seek_destination",
        request=DestinationSeek,
        responses=Sought,
        examples=[sent("Since noon, again", {"to": {"time": "2026-11-29T12:00:00Z"}, "reason": "a fixed bug"})],
    )
    def post(self, request: Request, destination: str) -> HttpResponse:
        """Puts it elsewhere, or with `dryRun` says what that would do. Batches that are out are stale afterwards."""
        parse.no_query(request._request)
        known = reach(request, "manage:events", destination)
        body = parse.body(request._request, DestinationSeek)
        reason = needed_note(body.reason, "reason")
        sought = seek(caller(request), str(known.uid), body.place(), dry_run=body.dry_run, reason=reason)
        return http.answer(request._request, sought.shown())


class AllCursors(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="topic_cursors", responses=list[ReaderAnswer])
    def get(self, request: Request, topic: str) -> HttpResponse:
        """Where every group and destination stands in each partition; those within the token's patterns."""
        parse.no_query(request._request)
        return answer_readers(request, topic_for(caller(request), "read:events", topic), None)


class PartitionCursors(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="partition_cursors", responses=list[ReaderAnswer])
    def get(self, request: Request, topic: str, partition: int) -> HttpResponse:
        """Where every group and destination stands in this partition; those within the token's patterns."""
        parse.no_query(request._request)
        return answer_readers(request, topic_for(caller(request), "read:events", topic), partition)


def answer_readers(request: Request, topic: TopicRef, partition: int | None) -> HttpResponse:
    allows = caller(request).allows
    shown = [
        reader_json(reader)
        for reader in readers(topic, partition)
        if allows("read:events", f"{topic.name}/{reader.name}" if reader.kind == "group" else reader.name)
    ]
    return http.answer(request._request, shown)
