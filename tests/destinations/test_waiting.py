"""Pulls that wait, through a real server: whatever changes their answer ends the wait at once."""

import json
import threading
from collections.abc import Iterator

import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from tests.destinations.world import DESTINATIONS
from tests.factories import api_key, unique
from tests.patience import until
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(django_db_setup: None) -> Iterator[Server]:
    database = settings.DATABASES["default"]
    names = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **names), TOWPATH_POLL_SECONDS="3600") as running:
        until(lambda: running.figure("towpath_listen_up") == 1)
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
        """The status of a pull that waits when the step is done."""
        answered = []

        def pull():
            answered.append(self.send("POST", f"{DESTINATIONS}/{self.name}/pull?wait=30").status)

        waiting = threading.Thread(target=pull)
        waiting.start()
        until(lambda: self.server.figure("towpath_waiters") == 1)
        step()
        waiting.join()
        return answered[0]


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
        status = client.while_pulling(step)
        assert status == expected
        client.send("POST", f"{path}/resume")
        if status == 200:
            # Nothing is left to be had: the last one waits again.
            batch = json.loads(client.send("POST", f"{path}/pull").content)
            done = {"leaseId": batch["leaseId"], "generation": 0, "status": "ok"}
            assert client.send("POST", f"{path}/acknowledge", done).status == 200
    # They were answered when it happened, and not when their time was up.
    assert server.figure('towpath_wakes_total{reason="notice"}') == 3
    assert server.figure('towpath_wakes_total{reason="deadline"}') == 0
