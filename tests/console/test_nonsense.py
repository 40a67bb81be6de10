"""Nonsense in the address of every page of the admin: whatever it is, the answer is no fault of the server."""

import re

import pytest
from django.urls import get_resolver
from django.urls.resolvers import URLResolver

# With transactions of its own: after an error of the database nothing else could be asked in the one of a test.
pytestmark = pytest.mark.django_db(transaction=True)

QUERIES = [
    "q=a&q=%00",
    "q=" + "x" * 5_000,
    "p=abc",
    "p=" + "9" * 40,
    "o=abc",
    "_to_field=password",
    "id__in=1,abc",
    "name__regex=(",
    "state=nonsense",
    "created_at__gte=yesterday",
    "cursor=!!!",
    "after=-1",
    "partition=" + "9" * 40,
    "%ff=%ff",
]


def routes(patterns=None, above=""):
    for pattern in patterns or get_resolver("config.urls").url_patterns:
        place = above + re.sub(r"\^|\$|\?P|\(\?:.*\)", "", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, place)
        elif place.startswith("admin/"):
            yield "/" + place


ROUTES = sorted(set(routes()))
NUMBERS = ["0", "9" * 10, "9" * 40]
TEXTS = ["a_00b_ZZ", "9" * 40, "%00", "%F0%9F%98%80" * 500]
NOBODY = "00000000-0000-0000-0000-000000000000"


def filled(route, number, text):
    route = re.sub(r"\(?<int:\w+>", number, re.sub(r"\(?<uuid:\w+>", NOBODY, route))
    return re.sub(r"\(?<[^>]*>[^/]*", text, route)


@pytest.fixture
def root(person, client):
    client.force_login(person("root", is_superuser=True))
    client.raise_request_exception = False
    return client


def test_pages_of_what_cannot_exist_are_no_fault_of_the_server(root):
    places = {filled(route, NUMBERS[n % 3], text) for route in ROUTES for n, text in enumerate(TEXTS)}
    for place in sorted(places):
        for send in (root.get, root.post):
            assert send(place).status_code < 500, (send.__name__, place[:200])


def test_lists_and_forms_take_any_query_without_a_fault_of_the_server(root):
    for place in [route for route in ROUTES if "<" not in route]:
        for query in QUERIES:
            assert root.get(f"{place}?{query}").status_code < 500, (place, query[:200])
