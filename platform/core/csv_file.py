"""A list of the admin as a CSV file: what the list shows as it is filtered, streamed, and harmless to a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import PAGE_VAR
from django.core.exceptions import BadRequest
from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import URLPattern, path

from core.admin import RuntimeAdmin, demand
from core.clock import rfc3339

MOST = 10_000
AT_ONCE = 500
Row = TypeVar("Row", bound=Model)
# A spreadsheet takes a cell that begins so for a formula.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class CsvAdmin(RuntimeAdmin):
    """A list with a button for its file: at most MOST rows. Who may see the list may have the file."""

    csv_titles: Sequence[str] = ()
    list_before_template = "console/csv_link.html"  # type: ignore[assignment]

    def csv_rows(self, request: HttpRequest, found: QuerySet[Any]) -> Iterable[Sequence[Any]]:
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_csv"
        return [path("csv/", self.admin_site.admin_view(self.csv), name=name), *super().get_urls()]

    def csv(self, request: HttpRequest) -> StreamingHttpResponse:
        demand(request, self.view_permission)
        return as_file(str(self.opts.model_name), self.csv_titles, self.csv_rows(request, self._found(request)[:MOST]))

    def _found(self, request: HttpRequest) -> QuerySet[Any]:
        asked = request.GET.copy()
        asked.pop(PAGE_VAR, None)
        request.GET = asked  # type: ignore[assignment]
        try:
            found: QuerySet[Any] = self.get_changelist_instance(request).queryset
        except IncorrectLookupParameters as error:
            raise BadRequest from error
        return found


def as_file(name: str, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> StreamingHttpResponse:
    """At most MOST rows, each sent as soon as it is there."""
    answer = StreamingHttpResponse(lines(titles, islice(rows, MOST)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def batches(found: QuerySet[Row]) -> Iterator[list[Row]]:
    """For what is asked once for many rows."""
    left = iter(found)
    while some := list(islice(left, AT_ONCE)):
        yield some


class _Line:
    """What csv writes to: gives the line back."""

    def write(self, line: str) -> str:
        return line


def lines(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(titles)
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return rfc3339(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value
