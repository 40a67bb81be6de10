"""Two real processes: what one revokes, the other refuses within five seconds. The other's clock is the test's."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from apps.access import operations
from tests.factories import grants, unique

TOLD_THE_TIME = """
import sys, types
import django
django.setup()
from apps.access import credentials
now = 0.0
credentials.time = types.SimpleNamespace(monotonic=lambda: now)
for line in sys.stdin:
    now, token = float(line.split()[0]), line.split()[1]
    print("in" if credentials.principal_of(token) else "out", flush=True)
"""


@pytest.fixture
def ask():
    """Another process is asked at a time of its clock whether it lets a token in."""
    database = connection.settings_dict
    names = [("dbname", "NAME"), ("user", "USER"), ("password", "PASSWORD"), ("host", "HOST"), ("port", "PORT")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(settings.BASE_DIR / "platform"), str(settings.BASE_DIR)]),
        "DATABASE_URL": " ".join(f"{name}='{database[key]}'" for name, key in names if database[key]),
    }
    command = [sys.executable, "-c", TOLD_THE_TIME]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as running:

        def ask(at: float, token: str) -> str:
            running.stdin.write(f"{at} {token}\n")
            return running.stdout.readline().strip()

        yield ask
        running.stdin.close()


@pytest.mark.django_db(transaction=True)
def test_another_process_refuses_a_revoked_key_within_five_seconds(ask):
    key, token = operations.create_api_key(unique("key"), grants("read:events"))
    assert ask(100, token) == "in"
    operations.revoke_api_key(key)
    assert ask(105, token) == "out"


@pytest.mark.django_db(transaction=True)
def test_another_process_takes_a_new_key_at_once(ask):
    _, first = operations.create_api_key(unique("key"), grants("read:events"))
    assert ask(100, first) == "in"
    _, second = operations.create_api_key(unique("key"), grants("read:events"))
    assert ask(100, second) == "in"
