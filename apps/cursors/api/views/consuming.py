"""The reader's verbs: consume, commit, be assigned partitions, leave."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.cursors.api import schemas
from apps.cursors.api.views.reach import reach
from apps.cursors.operations.assign import assign, leave
from apps.cursors.operations.commit import commit
from apps.cursors.selectors.groups import consume, consume_all
from apps.topics.api.schemas.bodies import RecordPage
from core import parse
from core.http import answer, no_content
from core.openapi import answered, problem, query_of, sent

_PAGE = {
    "partition": 3,
    "records": [
        {
            "offset": 120,
            "appendedAt": "2026-11-29T12:00:00.000000Z",
            "body": {"topic": "orders", "partitionKey": "sku-123", "payload": "…"},
        }
    ],
    "nextOffset": 121,
    "lag": 0,
}


class ConsumeAll(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(
        operation_id="consume_topic",
        parameters=query_of(schemas.ConsumeQuery),
        responses=list[schemas.PolledPartition],
        examples=[answered("One page, one left for the next call", [_PAGE, {"partition": 4, "deferred": True}])],
    )
    def get(self, request: Request, topic: str) -> HttpResponse:
        """A page of every partition at the group's position, 4 MiB in all. Reading moves nothing: commit does."""
        asked = parse.query(request._request, schemas.ConsumeQuery)
        found = reach(request, "read:events", topic, asked.group)
        return answer(request._request, schemas.polled(consume_all(found, asked.group, asked.limit)))


class ConsumePartition(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(
        operation_id="consume_partition",
        parameters=query_of(schemas.ConsumeQuery),
        responses={200: RecordPage, 410: problem("CURSOR_EXPIRED")},
        examples=[answered("One record", _PAGE)],
    )
    def get(self, request: Request, topic: str, partition: int) -> HttpResponse:
        """The page at the group's position; a new group starts at the oldest readable record."""
        asked = parse.query(request._request, schemas.ConsumeQuery)
        found = reach(request, "read:events", topic, asked.group)
        return answer(request._request, consume(found, partition, asked.group, asked.limit))


class CommitOffset(APIView):
    scopes = {"POST": "read:events"}

    @extend_schema(
        operation_id="commit",
        request=schemas.Commit,
        responses={200: schemas.Committed, 409: problem("CURSOR_REWIND", "FENCED")},
        examples=[sent("After the work", {"group": "billing", "offset": 121})],
    )
    def post(self, request: Request, topic: str, partition: int) -> HttpResponse:
        """Sets the next offset to read, forwards only, after the work is done. The same again changes nothing."""
        parse.no_query(request._request)
        body = parse.body(request._request, schemas.Commit)
        found = reach(request, "read:events", topic, body.group)
        commit(found, partition, body.group, body.offset, body.fencing_token)
        done = schemas.Committed(group=body.group, partition=partition, offset=body.offset)
        return answer(request._request, done)


class Assignments(APIView):
    scopes = {"POST": "read:events"}

    @extend_schema(
        operation_id="assign_partitions",
        request=schemas.Assign,
        responses=schemas.Assigned,
        examples=[sent("Join, or stay in", {"memberId": "worker-1", "ttlSeconds": 30})],
    )
    def post(self, request: Request, topic: str, group: str) -> HttpResponse:
        """The partitions this member holds from now on, each with its fencing token; call again to renew.

        A partition that this answer no longer lists is given up: another member gets it.
        """
        parse.no_query(request._request)
        body = parse.body(request._request, schemas.Assign)
        member = body.member()
        found = reach(request, "read:events", topic, group)
        held = assign(found, group, member, body.ttl_seconds)
        return answer(request._request, schemas.assigned(group, member, held))


class OneAssignment(APIView):
    scopes = {"DELETE": "read:events"}

    @extend_schema(operation_id="leave_group", request=None, responses={204: None})
    def delete(self, request: Request, topic: str, group: str, member: str) -> HttpResponse:
        """Leaves: what the member held is free at once. An unknown member has nothing to leave."""
        parse.no_query(request._request)
        parse.no_body(request._request)
        leave(reach(request, "read:events", topic, group), group, member)
        return no_content(request._request)
