"""Consumer groups as things: list and delete."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.access.api.permissions import caller
from apps.cursors.api import schemas
from apps.cursors.api.views.reach import reach
from apps.cursors.operations.groups import delete_group
from apps.cursors.selectors.groups import listed, standing
from apps.topics.selectors import resolve
from core import pages, parse
from core.errors import NotFound
from core.http import answer, no_content
from core.openapi import page_of, query_of


class Groups(APIView):
    scopes = {"GET": "read:events"}

    @extend_schema(operation_id="list_groups", parameters=query_of(pages.Page), responses=page_of(schemas.GroupAnswer))
    def get(self, request: Request, topic: str) -> HttpResponse:
        """Groups by name, those within the token's patterns, with position, lag and holder of each partition."""
        found = resolve.topic(topic)
        groups = listed(found, caller(request).names("read:events"))
        if not caller(request).allows("read:events", found.name) and not groups.exists():
            raise NotFound()
        page = pages.listing(request._request, groups, "name", lambda group: group)
        places = standing(page["items"])
        shown = [schemas.group(group, found.name, places[group.consumer_id]) for group in page["items"]]
        return answer(request._request, {**page, "items": shown})


class OneGroup(APIView):
    scopes = {"DELETE": "manage:events"}

    @extend_schema(operation_id="delete_group", request=None, responses={204: None})
    def delete(self, request: Request, topic: str, group: str) -> HttpResponse:
        """Its positions are gone; a group of this name then starts at the oldest readable record."""
        parse.no_query(request._request)
        parse.no_body(request._request)
        found = reach(request, "manage:events", topic, group)
        delete_group(caller(request), found, group)
        return no_content(request._request)
