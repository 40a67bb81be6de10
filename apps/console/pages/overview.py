"""The first page: what needs attention, then the counts."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.response import TemplateResponse

from apps.console.selectors.overview import overview
from core import admin


def show(request: HttpRequest) -> TemplateResponse:
    admin.demand(request, "console.view_console")
    return admin.page(request, "console/overview.html", "Overview", {"overview": overview()})


def live(request: HttpRequest) -> HttpResponse:
    """The part of the page that renews itself."""
    admin.demand(request, "console.view_console")
    return render(request, "console/overview_live.html", {"overview": overview()})
