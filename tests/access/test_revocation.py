"""Two real processes: what one revokes, the other refuses within five seconds."""

import os
import subprocess
import sys
import time

import pytest
from django.conf import settings
from django.db import connection

from apps.access import operations
from tests.factories import grants, unique

ASKS_ALL_THE_TIME = """
import sys, time
import django
django.setup()
from apps.access.credentials import principal_of
while True:
    print("in" if principal_of(sys.argv[1]) else "out", flush=True)
    time.sleep(0.05)
"""


@pytest.fixture
def process():
    database = connection.settings_dict
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(settings.BASE_DIR / "platform"), str(settings.BASE_DIR)]),
        "DATABASE_URL": " ".join(
            f"{name}='{database[key]}'"
            for name, key in [
                ("dbname", "NAME"),
                ("user", "USER"),
                ("password", "PASSWORD"),
                ("host", "HOST"),
                ("port", "PORT"),
            ]
            if database[key]
        ),
    }
    started = []

    def start(token):
        command = [sys.executable, "-c", ASKS_ALL_THE_TIME, token]
        started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
        return started[-1].stdout

    yield start
    for running in started:
        running.kill()
        running.wait()
        running.stdout.close()


@pytest.mark.django_db(transaction=True)
def test_another_process_refuses_a_revoked_key_within_five_seconds(process):
    key, token = operations.create_api_key(unique("key"), grants("read:events"))
    answers = process(token)
    assert answers.readline() == "in\n"
    operations.revoke_api_key(key)
    revoked = time.monotonic()
    while answers.readline() == "in\n":
        assert time.monotonic() - revoked < 5
    assert time.monotonic() - revoked < 5


@pytest.mark.django_db(transaction=True)
def test_another_process_takes_a_new_key_at_once(process):
    _, first = operations.create_api_key(unique("key"), grants("read:events"))
    assert process(first).readline() == "in\n"
    _, second = operations.create_api_key(unique("key"), grants("read:events"))
    assert process(second).readline() == "in\n"
