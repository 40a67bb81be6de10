"""Publishing: the hot doors of this app."""

from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from apps.access.api.permissions import caller
from apps.topics.api.schemas import answers
from apps.topics.api.schemas.bodies import CLOUD_EVENT, CLOUD_EVENTS, RECORDS, EventsAccepted, Group
from apps.topics.api.views.names import name_for
from apps.topics.cloudevents.binary import headers_of, is_binary, read_binary
from apps.topics.cloudevents.structured import read_batch, read_one
from apps.topics.items import Item
from apps.topics.operations.append import append
from apps.topics.records import read_records
from core import parse
from core.doors import HotView
from core.http import answer
from core.openapi import answered, sent

ONE, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"

_LOAD = {"hotRecords": 122, "hotBytes": 40_960, "recordsPerSecond": 1.4, "backlog": 0}
_EVENT = {
    "specversion": "1.0",
    "id": "8f4d2a1e",
    "source": "/shop",
    "type": "order.created",
    "subject": "sku-123",
    "data": {"total": 12},
}


class Records(HotView):
    scopes = {"POST": "write:events"}

    @extend_schema(
        operation_id="publish_records",
        request={"application/json": RECORDS},
        responses={202: list[Group], 409: list[Group], 503: list[Group]},
        examples=[
            sent("Two records of a key", [{"partitionKey": "sku-123", "payload": "…", "key": "a"}] * 2),
            answered(
                "The second is a repeat",
                [
                    {
                        "partition": 5,
                        "success": True,
                        "firstOffset": 120,
                        "nextOffset": 121,
                        "offsets": [120, 120],
                        "accepted": 1,
                        "duplicates": 1,
                        "load": _LOAD,
                    }
                ],
                status=202,
            ),
        ],
    )
    def post(self, request: Request, topic: str) -> HttpResponse:
        """Appends records. Each partition's group is stored whole or not at all; 409 when some group was not."""
        name = name_for(caller(request), "write:events", topic)
        parse.no_query(request._request)
        parse.check_json_type(request._request)
        appended = append(name, read_records(request._request.body))
        return answer(request._request, answers.groups(appended), answers.status(appended), answers.headers(appended))


class Events(HotView):
    scopes = {"POST": "write:events"}

    @extend_schema(
        operation_id="publish_events",
        request={ONE: CLOUD_EVENT, BATCH: CLOUD_EVENTS, "application/json": CLOUD_EVENT},
        responses={202: EventsAccepted, 409: EventsAccepted, 503: EventsAccepted},
        examples=[
            sent("One event", _EVENT, ONE),
            sent("A batch", [_EVENT], BATCH),
            answered(
                "Stored",
                {
                    "accepted": 1,
                    "duplicates": 0,
                    "events": [{"id": "8f4d2a1e", "sequence": "005.00000000000000000120", "duplicate": False}],
                },
                status=202,
            ),
        ],
    )
    def post(self, request: Request, topic: str) -> HttpResponse:
        """Appends CloudEvents: one, a batch, or in binary mode (attributes in `ce-` headers, the data as the body)."""
        name = name_for(caller(request), "write:events", topic)
        parse.no_query(request._request)
        items = _events(request._request)
        appended = append(name, items)
        return answer(request._request, answers.events(appended, items), answers.status(appended), answers.headers(appended))


def _events(request: HttpRequest) -> list[Item]:
    kind = parse.media_type(request)
    if kind == BATCH:
        parse.check_json_type(request, (BATCH,))
        return read_batch(request.body)
    if is_binary(request.META) and not kind.startswith("application/cloudevents"):
        parse.check_encoding(request)
        return read_binary(headers_of(request.META), request.META.get("CONTENT_TYPE", "").strip(), request.body)
    parse.check_json_type(request, (ONE, "application/json", BATCH))
    return read_one(request.body)
