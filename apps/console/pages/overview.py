"""The first page: what needs attention, then the counts."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.response import TemplateResponse

from apps.console.selectors.history import SPANS
from apps.console.selectors.overview import overview
from core import admin


def show(request: HttpRequest) -> TemplateResponse:
    admin.demand(request, "console.view_console")
    return admin.page(request, "console/overview.html", "Overview", _shown(request))


def live(request: HttpRequest) -> HttpResponse:
    """The part of the page that renews itself."""
    admin.demand(request, "console.view_console")
    return render(request, "console/overview_live.html", _shown(request))


def _shown(request: HttpRequest) -> dict[str, Any]:
    span = request.GET.get("span", "1h") if request.GET.get("span") in SPANS else "1h"
    return {"overview": overview(span), "span": span, "spans": list(SPANS)}
