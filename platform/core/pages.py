"""Lists: `?limit=` and an opaque `cursor`, `{"items": […], "nextCursor": …}`, never an offset and never a COUNT.

    rows = Topic.objects.filter(request.auth.named("read:events"))
    return answer(request, pages.listing(request._request, rows, "name", as_json, TopicFilter))

In the description of the view: parameters=query_of(pages.Page) + filters_of(TopicFilter), responses={200: page_of(Topic)}.
"""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import django_filters
from django.core.exceptions import ValidationError
from django.db.models import IntegerField, Model, QuerySet
from django.http import HttpRequest
from msgspec import Meta

from core import clock, parse
from core.errors import InvalidField, InvalidParameter
from core.shapes import NOT_TEXT

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


class Page(parse.Query, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Items a page.")] = DEFAULT_LIMIT
    cursor: Annotated[str, Meta(min_length=1, description="`nextCursor` of the page before.")] | None = None


def listing(
    request: HttpRequest,
    rows: QuerySet[Row],
    key: str,
    show: Callable[[Row], Any],
    filters: type[django_filters.FilterSet] | None = None,
) -> dict[str, Any]:
    """A page of `rows` in the order of `key`, a unique column (`-id`: the other way round). Raises InvalidParameter."""
    values = parse.pairs(request)
    known = filters.base_filters if filters else {}
    asked = {name: values.pop(name) for name in list(values) if name in known}
    page = parse.as_query(values, Page)
    if filters is not None:
        rows = _filtered(rows, filters, asked)
    column = key.removeprefix("-")
    if page.cursor is not None:
        comparison = f"{column}__{'lt' if key.startswith('-') else 'gt'}"
        rows = rows.filter(**{comparison: _position(rows, column, page.cursor)})
    found = list(rows.order_by(key)[: page.limit + 1])
    more = len(found) > page.limit
    items = found[: page.limit]
    return {"items": [show(row) for row in items], "nextCursor": _cursor(items[-1], column) if more else None}


def _filtered(rows: QuerySet[Row], filters: type[django_filters.FilterSet], asked: dict[str, str]) -> QuerySet[Row]:
    for name, text in asked.items():
        _check_filter(name, filters.base_filters[name], text)
    chosen = filters(asked, queryset=rows)
    for name, messages in chosen.form.errors.items():
        raise InvalidParameter(" ".join(map(str, messages)), field=name)
    return chosen.qs  # type: ignore[no-any-return]


def _check_filter(name: str, kind: django_filters.Filter, text: str) -> None:
    """django-filter takes an empty value for none, `maybe` for no filter, and Arabic digits for a number."""
    if text == "":
        raise InvalidParameter("Must not be empty.", field=name)
    if isinstance(kind, django_filters.BooleanFilter) and text not in ("true", "false"):
        raise InvalidParameter("Must be true or false.", field=name)
    if isinstance(kind, django_filters.NumberFilter) and not parse.is_whole_number(text):
        raise InvalidParameter("Must be a whole number.", field=name)
    if isinstance(kind, django_filters.IsoDateTimeFilter):
        try:
            clock.parse_time(text, name)
        except InvalidField as error:
            raise InvalidParameter(error.message, field=name) from None


def _cursor(row: Model, column: str) -> str:
    value = getattr(row, column)
    return encode_cursor([value if isinstance(value, int) else str(value)])


def _position(rows: QuerySet[Any], column: str, cursor: str) -> Any:
    field = rows.model._meta.get_field(column)
    (value,) = decode_cursor(cursor, [int if isinstance(field, IntegerField) else str])
    try:
        return field.to_python(value)
    except ValidationError:
        raise _foreign_cursor() from None


def encode_cursor(position: Sequence[str | int]) -> str:
    """An opaque, URL-safe text for the sort key of the last item shown."""
    return base64.urlsafe_b64encode(json.dumps(list(position)).encode()).decode().rstrip("=")


def decode_cursor(text: str, kinds: Sequence[type]) -> list[Any]:
    """The position in a cursor that encode_cursor made. Raises InvalidParameter for anything else."""
    try:
        position = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise _foreign_cursor() from None
    if not isinstance(position, list) or [type(part) for part in position] != list(kinds):
        raise _foreign_cursor()
    if any(isinstance(part, str) and NOT_TEXT.search(part) for part in position):
        raise _foreign_cursor()
    return position


def _foreign_cursor() -> InvalidParameter:
    return InvalidParameter("This cursor was not made by this list.", field="cursor")


def page(rows: Sequence[Item], limit: int, position: Callable[[Item], Sequence[str | int]]) -> dict[str, Any]:
    """One page from up to `limit` + 1 rows: the extra row only tells that there is a next page."""
    items = list(rows[:limit])
    more = len(rows) > limit
    return {"items": items, "nextCursor": encode_cursor(position(items[-1])) if more else None}
