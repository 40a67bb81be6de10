"""Ready means proven: each part turns red by itself, and nobody learns from it what is not theirs."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F

from apps.console import health
from apps.console.models import BeatProof
from core.waits import listening
from tests.factories import Api

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def all_is_well(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": str(tmp_path)}
    health.prove_beat()
    health.report.forget()
    yield
    listening.alive = None
    health.report.forget()


@pytest.fixture
def red(anyone: Api) -> Callable[[], set[str]]:
    def parts() -> set[str]:
        answer = anyone.get("/readyz")
        found = {name for name, part in answer.json()["parts"].items() if not part["ok"]}
        assert answer.status_code == (503 if found else 200)
        return found

    return parts


def test_it_is_ready_when_every_part_is(red: Callable[[], set[str]]) -> None:
    assert red() == set()


def test_a_beat_that_has_not_come_through_for_30_seconds_is_red(red: Callable[[], set[str]]) -> None:
    BeatProof.objects.update(proved_at=F("proved_at") - timedelta(seconds=31))
    assert red() == {"beat"}


def test_a_beat_that_never_came_through_is_red(red: Callable[[], set[str]]) -> None:
    BeatProof.objects.all().delete()
    assert red() == {"beat"}


def test_a_migration_that_is_missing_is_red(red: Callable[[], set[str]]) -> None:
    MigrationRecorder.Migration.objects.filter(app="console").delete()
    assert red() == {"migrations"}


def test_a_broker_that_cannot_be_written_to_is_red(red: Callable[[], set[str]], settings: Any) -> None:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": "/nowhere"}
    assert red() == {"broker"}


def test_a_broker_that_does_not_answer_is_red_and_names_no_address(settings: Any, monkeypatch: Any) -> None:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {}
    monkeypatch.setattr(health.current_app.conf, "broker_write_url", "redis://:secret@127.0.0.1:1/0")
    part = health.look()["broker"]
    assert part["ok"] is False and "secret" not in str(part) and "127.0.0.1" not in str(part)


def test_a_listener_that_is_away_is_red(red: Callable[[], set[str]]) -> None:
    listening.alive = False
    assert red() == {"listener"}


def test_a_second_look_within_a_second_costs_nothing(anyone: Api, django_assert_num_queries: Any) -> None:
    anyone.get("/readyz")
    with django_assert_num_queries(0):
        anyone.get("/readyz")
