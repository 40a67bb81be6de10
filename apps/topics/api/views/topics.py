"""Topics: make, list, show, change, delete; and what stands in them."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from msgspec import UNSET
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.topics.api.filters import TopicFilter
from apps.topics.api.schemas import answers
from apps.topics.api.schemas import bodies as schemas
from apps.topics.api.views.names import name_for, topic_for
from apps.topics.cloudevents.answer import record_page
from apps.topics.operations.change import change_topic
from apps.topics.operations.create import create_topic
from apps.topics.operations.delete import delete_topic
from apps.topics.selectors.log import bounds, listed, load, page, topic_row
from core import pages, parse
from core.http import answer, no_content
from core.openapi import answered, page_of, problem, sent


class Topics(APIView):
    scopes = {"GET": "read:events", "POST": "manage:events"}

    @extend_schema(
        operation_id="list_topics",
        parameters=[schemas.TopicQuery],  # type: ignore[list-item]
        responses=page_of(schemas.Topic),
    )
    def get(self, request: Request) -> HttpResponse:
        """Topics by name, those within the token's patterns."""
        asked = parse.query(request._request, schemas.TopicQuery)
        after = None if asked.cursor is UNSET else pages.decode_cursor(asked.cursor, [str])[0]
        found = listed(caller(request).names("read:events"), after)
        narrowed = TopicFilter({} if asked.name is UNSET else {"name": asked.name}, found).qs
        shown = pages.page(narrowed[: asked.limit + 1], asked.limit, lambda topic: [topic.name])
        return answer(request._request, {**shown, "items": [answers.topic(topic) for topic in shown["items"]]})

    @extend_schema(
        operation_id="make_topic",
        request=schemas.MakeTopic,
        responses={201: schemas.Topic, 409: problem("NAME_TAKEN")},
        examples=[sent("A topic", {"name": "orders", "partitions": 8, "retention": {"hot": {"seconds": 86_400}}})],
    )
    def post(self, request: Request) -> HttpResponse:
        """Makes a topic. Its partitions and hash are fixed for good."""
        body = parse.body(request._request, schemas.MakeTopic)
        caller(request).require("manage:events", body.name)
        topic = create_topic(caller(request), body.name, body.partitions, **body.fields())
        return answer(request._request, answers.topic(topic), 201, {"Location": f"/v1/topics/{topic.uid}"})


class OneTopic(APIView):
    scopes = {"GET": "read:events", "PATCH": "manage:events", "DELETE": "manage:events"}

    @extend_schema(operation_id="show_topic", responses=schemas.Topic)
    def get(self, request: Request, topic: str) -> HttpResponse:
        """A topic, by name or id."""
        parse.no_query(request._request)
        return answer(request._request, answers.topic(topic_row(name_for(caller(request), "read:events", topic))))

    @extend_schema(
        operation_id="change_topic",
        request=schemas.ChangeTopic,
        responses=schemas.Topic,
        examples=[sent("A longer window", {"dedupWindowSeconds": 172_800})],
    )
    def patch(self, request: Request, topic: str) -> HttpResponse:
        """Changes settings: what is not named stays."""
        name = name_for(caller(request), "manage:events", topic)
        body = parse.body(request._request, schemas.ChangeTopic)
        return answer(request._request, answers.topic(change_topic(caller(request), name, **body.fields())))

    @extend_schema(operation_id="delete_topic", request=None, responses={204: None, 409: problem("TOPIC_IN_USE")})
    def delete(self, request: Request, topic: str) -> HttpResponse:
        """Deletes a topic that nobody reads. Made again, it begins at offset 0 under a new id."""
        name = name_for(caller(request), "manage:events", topic)
        parse.no_body(request._request)
        delete_topic(caller(request), name)
        return no_content(request._request)


class PartitionRecords(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(
        operation_id="browse_partition",
        parameters=[schemas.BrowseQuery],  # type: ignore[list-item]
        responses={200: schemas.RecordPage, 410: problem("CURSOR_EXPIRED")},
        examples=[
            answered(
                "One record",
                {
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
                },
            )
        ],
    )
    def get(self, request: Request, topic: str, partition: int) -> HttpResponse:
        """A page of one partition, contiguous from the asked offset (by default the oldest kept)."""
        found = topic_for(caller(request), "read:events", topic)
        asked = parse.query(request._request, schemas.BrowseQuery)
        first = None if asked.from_ is UNSET else asked.from_
        return answer(request._request, record_page(found, page(found, partition, first, asked.limit)))


class AllBounds(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="topic_bounds", responses=list[schemas.PartitionBounds])
    def get(self, request: Request, topic: str) -> HttpResponse:
        """Where each partition begins and ends."""
        found = topic_for(caller(request), "read:events", topic)
        parse.no_query(request._request)
        return answer(request._request, [answers.bounds(each) for each in bounds(found)])


class PartitionBounds(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="partition_bounds", responses=schemas.PartitionBounds)
    def get(self, request: Request, topic: str, partition: int) -> HttpResponse:
        """Where a partition begins and ends: oldest kept, first in the hot window, next to be written."""
        found = topic_for(caller(request), "read:events", topic)
        parse.no_query(request._request)
        return answer(request._request, answers.bounds(bounds(found, partition)[0]))


class AllLoads(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="topic_load", responses=list[schemas.PartitionLoad])
    def get(self, request: Request, topic: str) -> HttpResponse:
        """What each partition carries."""
        found = topic_for(caller(request), "read:events", topic)
        parse.no_query(request._request)
        loads = load(found)
        return answer(request._request, [{"partition": number, **loads[number].shown()} for number in loads])


class PartitionLoad(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="partition_load", responses=schemas.Load)
    def get(self, request: Request, topic: str, partition: int) -> HttpResponse:
        """What a partition carries: its hot window; and, of the process that answers, the rate and the appends waiting."""
        found = topic_for(caller(request), "read:events", topic)
        parse.no_query(request._request)
        return answer(request._request, load(found, partition)[partition].shown())
