"""Pulls that wait, through a real server: whatever changes their answer ends the wait at once."""

import json
import threading
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from tests.destinations.world import DESTINATIONS
from tests.factories import api_key, unique
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(django_db_setup: None) -> Iterator[Server]:
    database = settings.DATABASES["default"]
    names = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **names)) as running:
        yield running


class Client:
    def __init__(self, server: Server) -> None:
        self.server = server
        self.headers = {"Authorization": f"Bearer {api_key()}", "Content-Type": "application/json"}
        self.topic, self.name = unique("topic"), unique("destination")
        made = self.send("POST", DESTINATIONS, {"name": self.name, "type": "DURABLE_CONSUMER", "topic": self.topic})
        assert made.status == 201

    def send(self, method, path, body=None):
        raw = None if body is None else json.dumps(body).encode()
        return self.server.request(method, path, raw, headers=self.headers)

    def while_pulling(self, step):
        """(status, seconds from the step to the answer) of a pull that waits when the step is done."""
        answered = []

        def pull():
            answer = self.send("POST", f"{DESTINATIONS}/{self.name}/pull?wait=20")
            answered.append((answer.status, time.monotonic()))

        waiting = threading.Thread(target=pull)
        waiting.start()
        waiting.join(0.5)
        assert not answered
        began = time.monotonic()
        step()
        waiting.join()
        status, at = answered[0]
        return status, at - began


def test_publishing_pausing_and_deleting_end_a_wait_at_once(server):
    client = Client(server)
    path = f"{DESTINATIONS}/{client.name}"
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
    steps = {
        409: lambda: client.send("POST", f"{path}/pause"),
        200: lambda: client.send("POST", f"/v1/topics/{client.topic}/events", event),
        404: lambda: client.send("DELETE", path),
    }
    for expected, step in steps.items():
        status, took = client.while_pulling(step)
        assert (status, took < 2) == (expected, True), (expected, status, took)
        client.send("POST", f"{path}/resume")
        if status == 200:
            # Nothing is left to be had: the last one waits again.
            batch = json.loads(client.send("POST", f"{path}/pull").content)
            done = {"leaseId": batch["leaseId"], "generation": 0, "status": "ok"}
            assert client.send("POST", f"{path}/acknowledge", done).status == 200
