"""The main job, on real sockets and processes: many varied events, workers that are killed, and nothing lost."""

import os

import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from tests.e2e import conservation
from tests.factories import api_key
from tests.serving import Server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

# 100,000 by hand: python tests/e2e/conservation.py
EVENTS = int(3_000 * float(os.environ.get("TOWPATH_TEST_SCALE", "1")))


def test_it_loses_and_changes_nothing_though_workers_are_killed():
    database = settings.DATABASES["default"]
    names = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **names)) as server:
        assert conservation.run(f"http://127.0.0.1:{server.port}", api_key(), EVENTS, patience=400)
