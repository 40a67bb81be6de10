"""Durable consumers: publish by 1 and 100, pull + acknowledge by 100 with 1 and 8 workers, over HTTP and without it."""

import json
import secrets
from typing import Any

from tests.benchmarks import load, place
from tests.benchmarks.client import Client
from tests.benchmarks.load import Load

ROUNDS, SECONDS = 5, 0.6
STOCK = 100_000


def events(many: int) -> list[dict[str, Any]]:
    """About 300 bytes each, spread over the partitions by subject."""
    batch = secrets.token_hex(8)
    return [
        {
            "specversion": "1.0",
            "id": f"{batch}-{index}",
            "source": "/bench",
            "type": "order.made",
            "subject": f"sku-{index % 97}",
            "data": {"text": "x" * 170, "n": index},
        }
        for index in range(many)
    ]


def get(client: Client, number: int) -> int:
    assert client.send("GET", "/v1/plain")[0] == 200
    return 1


def publish(client: Client, number: int, many: int, topic: str) -> int:
    body = json.dumps(events(many) if many > 1 else events(1)[0]).encode()
    kind = "application/cloudevents-batch+json" if many > 1 else "application/cloudevents+json"
    status, answer = client.send("POST", f"/v1/topics/{topic}/events", body, kind)
    assert status == 202, (status, answer[:300])
    return many


def consume(client: Client, number: int, workers: int, lives: dict[int, int]) -> int:
    """One batch of up to 100. A worker that finds nothing more goes on with a new destination, made at the oldest event."""
    life = lives.setdefault(number, 0)
    name = f"{workers}-workers-{life}"
    status, answer = client.send("POST", f"/v1/event-destinations/{name}/pull?limit=100&workerId=w{number}")
    if status in (204, 404):
        lives[number] = life + (status == 204)
        start = {
            "name": f"{workers}-workers-{lives[number]}",
            "type": "DURABLE_CONSUMER",
            "topic": "stock",
            "startAt": "oldest",
        }
        assert client.send("POST", "/v1/event-destinations", json.dumps(start).encode())[0] in (201, 409)
        return 0
    assert status == 200, (status, answer[:300])
    lease = json.loads(answer)
    done = {"leaseId": lease["leaseId"], "generation": lease["generation"], "status": "ok"}
    client.call("POST", f"/v1/event-destinations/{name}/acknowledge", done)
    return len(lease["events"])


def main() -> None:
    with place.server(TOWPATH_ACCESS_LOG="0") as (server, token):
        fill(Client(server.port, token))
        lines = load.side_by_side(loads(server, token), ROUNDS, SECONDS)
        print("Over HTTP, one server process\n")
        print(load.table(lines))
    with place.database() as url:
        print("\nThe same operations without HTTP, events a second (median; lowest-highest)\n")
        print(place.python(url, "-m", "tests.benchmarks.consumers_alone"))


def fill(client: Client) -> None:
    for _ in range(STOCK // 1000):
        publish(client, 0, 1000, "stock")


def loads(server: Any, token: str) -> list[Load]:
    def line(name: str, work: load.Work, clients: int, unit: str, **arguments: Any) -> Load:
        return Load(name, work, server.place, token, clients, arguments, unit)

    return [
        line("plain view", get, 16, "requests"),
        line("publish by 1, 16 clients", publish, 16, "events", many=1, topic="singles"),
        line("publish by 100, 1 client", publish, 1, "events", many=100, topic="hundreds"),
        line("publish by 100, 8 clients", publish, 8, "events", many=100, topic="hundreds"),
        line("pull + acknowledge by 100, 1 worker", consume, 1, "events", workers=1, lives={}),
        line("pull + acknowledge by 100, 8 workers", consume, 8, "events", workers=8, lives={}),
    ]
