"""The leases page: who holds what since when, until when, at which attempt."""

from django.http import HttpRequest
from django.template.response import TemplateResponse

from apps.console.selectors.leases import KINDS, leases
from core import admin
from core.pages import encode_cursor

SHOWN = 100


def show(request: HttpRequest) -> TemplateResponse:
    admin.demand(request, "console.view_console")
    worker, kind = asked(request)
    found = leases(request.GET.get("after", ""), SHOWN + 1, worker or None, kind)
    rows, more = found[:SHOWN], len(found) > SHOWN
    context = {
        "leases": rows,
        "worker": worker,
        "kind": kind,
        "kinds": KINDS,
        "next": encode_cursor(rows[-1].position) if more else "",
        "may_settle": admin.may(request, "console.settle_leases"),
    }
    return admin.page(request, "console/leases.html", "Leases", context)


def asked(request: HttpRequest) -> tuple[str, str]:
    """Of which worker and of what; empty: of all."""
    kind = request.GET.get("kind", "")
    return request.GET.get("worker", "").replace("\0", ""), kind if kind in KINDS else ""
