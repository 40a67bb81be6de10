"""The list as it is filtered, in the words of a bulk operation."""

from urllib.parse import urlencode

from django.contrib.admin.views.main import ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR
from django.http import QueryDict

from apps.topics.models import Topic

SAME = {"state": "state", "type__exact": "type", SEARCH_VAR: "search"}
TOPIC = "topic__id__exact"
RESTRICTS_NOTHING = {PAGE_VAR, ORDER_VAR, ALL_VAR}


def matching(asked: QueryDict) -> str | None:
    """As a query of the page that begins one; None for a filter that no bulk operation has: it would be about more."""
    given = {key: str(value) for key, value in asked.items() if value and key not in RESTRICTS_NOTHING}
    if not given.keys() <= {*SAME, TOPIC}:
        return None
    words = {SAME[key]: value for key, value in given.items() if key in SAME}
    if TOPIC in given:
        name = _topic(given[TOPIC])
        if name is None:
            return None
        words["topic"] = name
    return urlencode({"objects": "destinations", **words})


def _topic(number: str) -> str | None:
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return None
    return Topic.objects.filter(pk=int(number)).values_list("name", flat=True).first()
