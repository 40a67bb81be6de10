"""A database and a server process of the benchmark's own, gone when it ends."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.serving import ROOT, Server

SETTINGS = "tests.benchmarks.settings"


@contextmanager
def database() -> Iterator[str]:
    """A migrated database beside the one that DATABASE_URL names."""
    url = os.environ["DATABASE_URL"]
    name = f"towpath_benchmark_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            own = make_conninfo(url, dbname=name)
            python(own, "manage.py", "migrate", "--verbosity", "0")
            yield own
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def server(**environment: str) -> Iterator[tuple[Server, str]]:
    """A running server on a database of its own, and an API key with every scope."""
    with database() as url, Server(url, SETTINGS, patient=False, **environment) as running:
        yield running, api_key(url)


def api_key(url: str) -> str:
    return python(url, "-c", "import django; django.setup(); from tests.factories import api_key; print(api_key())")


def python(url: str, *arguments: str) -> str:
    paths = f"{ROOT / 'platform'}{os.pathsep}{ROOT}"
    environment = {**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
