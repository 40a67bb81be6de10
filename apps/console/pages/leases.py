"""The leases page: who holds what since when, until when, at which attempt."""

from uuid import UUID

from django.http import HttpRequest
from django.template.response import TemplateResponse

from apps.console.selectors.leases import BEFORE_ALL, Position, leases
from core import admin
from core.errors import InvalidParameter
from core.pages import decode_cursor, encode_cursor

SHOWN = 100


def show(request: HttpRequest) -> TemplateResponse:
    admin.demand(request, "console.view_console")
    worker = request.GET.get("worker", "").replace("\0", "")
    found = leases(_after(request.GET.get("after", "")), SHOWN + 1, worker or None)
    rows, more = found[:SHOWN], len(found) > SHOWN
    context = {
        "leases": rows,
        "worker": worker,
        "next": _cursor(rows[-1].position) if more else "",
        "may_settle": admin.may(request, "console.settle_leases"),
    }
    return admin.page(request, "console/leases.html", "Leases", context)


def _cursor(position: Position) -> str:
    topic_id, consumer_id, lease_id = position
    return encode_cursor([topic_id, consumer_id, str(lease_id)])


def _after(cursor: str) -> Position:
    """From the top for a cursor that this page did not make."""
    try:
        topic_id, consumer_id, lease_id = decode_cursor(cursor, [int, int, str])
        return topic_id, consumer_id, UUID(lease_id)
    except (InvalidParameter, ValueError):
        return BEFORE_ALL
