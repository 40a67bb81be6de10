"""Metrics name topics and tables: from nearby anyone may read them, from elsewhere only who may manage something."""

from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.factories import Api

pytestmark = pytest.mark.django_db


def names(text: str) -> set[str]:
    return {family.name for family in text_string_to_metric_families(text)}


def test_they_are_read_from_nearby_without_a_token(anyone: Api) -> None:
    answer = anyone.get("/metrics")
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/plain")
    assert {"towpath_http_requests", "towpath_waiters", "towpath_oldest_xmin_seconds", "towpath_dead_tuples",
            "towpath_notify_round_trip_seconds", "towpath_appends"} <= names(answer.content.decode())  # fmt: skip


@pytest.mark.parametrize(
    "extra", [{"REMOTE_ADDR": "10.1.2.3"}, {"HTTP_X_FORWARDED_FOR": "127.0.0.1"}, {"HTTP_FORWARDED": "for=x"}]
)
def test_from_elsewhere_or_through_a_proxy_they_need_a_token(
    anyone: Api, api_with: Callable[..., Api], extra: dict[str, str]
) -> None:
    assert anyone.get("/metrics", **extra).status_code == 401
    assert api_with("read:events").get("/metrics", **extra).status_code == 403
    assert api_with("manage:queues").get("/metrics", **extra).status_code == 200
