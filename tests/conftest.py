"""The fixture world shared by all tests; builders are in tests/factories.py."""

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

from apps.channels.models import ChannelKind
from core import notices
from core.secret_key import MADE_UP
from tests.factories import Api, api_key
from tests.topics.cold import use_store

# Processes that serve refuse to start without a key; those of the tests have this process's.
settings.SECRET_KEY = os.environ.setdefault("SECRET_KEY", settings.SECRET_KEY.removeprefix(MADE_UP))

# A test that was stopped for seconds in the middle of a transaction, or while it held a lock, goes on where it was.
settings.DATABASES["default"]["OPTIONS"]["options"] += (
    " -c lock_timeout=60s -c statement_timeout=300s -c idle_in_transaction_session_timeout=300s"
)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The thread that sends notices lives as long as the process: it must not keep the database from being dropped, nor tell
    the one that DATABASE_URL names, at exit, what it could not say here.
    """
    yield
    with notices._outbox._lock:
        notices._outbox._pending.clear()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(autouse=True)
def hot_tables(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that commits, Django empties the tables of its models; those that only SQL knows are emptied here."""
    marker = request.node.get_closest_marker("django_db")
    if marker is None or not marker.kwargs.get("transaction"):
        yield
        return
    request.getfixturevalue("transactional_db")
    yield
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    known = {"django_migrations", *(model._meta.db_table for model in models)}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace = 'public'::regnamespace"
        )
        hot = [name for (name,) in cursor.fetchall() if name not in known]
        # Emptying files of 150 day partitions takes a second; deleting the few rows there are does not.
        cursor.execute("; ".join(f"DELETE FROM {name}" for name in hot))


@pytest.fixture(autouse=True)
def kinds(request: pytest.FixtureRequest, hot_tables: None) -> None:
    """A test that commits empties every table after it, also of the channel kinds that a migration put there."""
    uses_database = {"db", "transactional_db"} & set(request.fixturenames)
    if not uses_database and request.node.get_closest_marker("django_db") is None:
        return
    request.getfixturevalue("db")
    if not ChannelKind.objects.exists():
        importlib.import_module("apps.channels.migrations.0002_hot").make_kinds(apps, None)


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """Where cold storage is, empty and of this test only."""
    settings.TOWPATH = dict(settings.TOWPATH)
    use_store(tmp_path / "cold")
    return tmp_path / "cold"


@pytest.fixture
def api(db: None) -> Api:
    """A client with every scope."""
    return Api(api_key())


@pytest.fixture
def api_with(db: None) -> Callable[..., Api]:
    """Makes clients with these scopes only: `api_with("read:events orders.*", "write:events")`."""
    return lambda *scopes: Api(api_key(*scopes))


@pytest.fixture
def anyone(db: None) -> Api:
    """A client without a token."""
    return Api()
