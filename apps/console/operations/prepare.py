"""Makes a database ready: there, migrated by one process at a time, and with a way in."""

import os
import secrets
import time
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from psycopg import errors, sql

from apps.access.models import ApiKey
from apps.access.operations import create_api_key
from apps.access.scopes import SCOPES, Grant
from core import partitions

MINIMUM_VERSION = 150_000
PATIENCE_SECONDS = 60.0
MIGRATIONS = 7310_2026
"""The advisory lock of whoever migrates."""


class Unfit(Exception):
    """This database cannot be used; the message says why."""


def reach_database() -> None:
    """Waits for a server that is still starting and makes a missing database. Raises Unfit."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _connects():
        if time.monotonic() > deadline:
            raise Unfit(f"The database does not answer: {_complaint()}")
        time.sleep(1)
    version = connection.cursor().connection.info.server_version
    if version < MINIMUM_VERSION:
        raise Unfit(f"PostgreSQL 15 or newer is needed, and this is {version // 10_000}.")


def migrate(verbosity: int) -> None:
    """One process at a time: the others wait here, and then find nothing left to do."""
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATIONS])
        try:
            call_command("migrate", interactive=False, verbosity=verbosity)
            partitions.roll()  # a database that rested for weeks has none for today
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATIONS])


def make_broker_folders() -> None:
    """Those of the default broker, which is a folder in the home; any other needs none. Raises Unfit."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem:"):
        return
    options: dict[str, Any] = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    try:
        for name in ("data_folder_in", "data_folder_out", "processed_folder", "control_folder"):
            Path(options[name]).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unfit(f"Without CELERY_BROKER_URL the broker is a folder, and it could not be made: {error}") from None


def first_run() -> None:
    """Only where there is no user and no key yet: what an operator has deleted is not brought back while others remain."""
    if not get_user_model().objects.exists():
        _make_admin()
    if not ApiKey.objects.exists():
        _make_key()


def _connects() -> bool:
    try:
        connection.ensure_connection()
    except OperationalError as error:
        if isinstance(error.__cause__, errors.InvalidCatalogName) or "does not exist" in str(error):
            _make_database()
        return False
    return True


def _complaint() -> str:
    try:
        connection.ensure_connection()
    except OperationalError as error:
        return str(error).strip()
    return "it does now, after all: start again."


def _make_database() -> None:
    name = settings.DATABASES["default"]["NAME"]
    parameters = {**connection.get_connection_params(), "dbname": "postgres"}
    wanted = {"dbname", "user", "password", "host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey"}
    try:
        with psycopg.connect(autocommit=True, **{k: v for k, v in parameters.items() if k in wanted}) as server:
            server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    except (errors.DuplicateDatabase, errors.UniqueViolation):
        pass  # another process was faster
    except psycopg.Error as error:
        raise Unfit(f"There is no database {name!r}, and it could not be made: {error}") from None


def _make_admin() -> None:
    password = secrets.token_urlsafe(18)
    with transaction.atomic():
        get_user_model().objects.create_superuser("admin", password=password)
        _write_private(settings.HOME / "admin-password", password)


def _make_key() -> None:
    with transaction.atomic():
        _, key = create_api_key("first-run", [Grant(scope) for scope in SCOPES])
        _write_private(settings.HOME / "api-key", key)


def _write_private(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text + "\n")
