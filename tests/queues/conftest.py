"""A queue to work on, and the calls of a worker."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.factories import Api, unique


class Worker:
    """Calls one queue through the API and answers the `data` of each."""

    def __init__(self, api: Api, queue: str) -> None:
        self.api, self.queue, self.path = api, queue, f"/v1/event-queues/{queue}"

    def enqueue(self, payload: Any = None, **fields: Any) -> dict[str, Any]:
        return data(self.api.post(f"{self.path}/events", {"payload": payload or {}, **fields}), 201)

    def claim(self, **fields: Any) -> Any:
        return data(self.api.post(f"{self.path}/claim", fields))

    def call(self, verb: str, claim: dict[str, Any], **fields: Any) -> Any:
        path = f"/v1/events/{claim['event']['id']}/{verb}"
        return self.api.post(path, {"leaseToken": claim["leaseToken"], **fields})

    def ack(self, claim: dict[str, Any]) -> Any:
        return data(self.call("ack", claim))

    def ack_several(self, *claims: dict[str, Any]) -> list[str]:
        """`acked` or the code of the error, of each."""
        acks = [{"id": claim["event"]["id"], "leaseToken": claim["leaseToken"]} for claim in claims]
        results = data(self.api.post(f"{self.path}/ack", {"acks": acks}))["results"]
        assert [result["id"] for result in results] == [ack["id"] for ack in acks]
        return [result.get("status") or result["error"]["code"] for result in results]

    def nack(self, claim: dict[str, Any], **fields: Any) -> Any:
        return data(self.call("nack", claim, **fields))

    def act(self, verb: str, **fields: Any) -> Any:
        return data(self.api.post(f"{self.path}/{verb}", fields))

    def get(self, tail: str = "") -> Any:
        return data(self.api.get(f"{self.path}{tail}"))

    def claim_all(self, **fields: Any) -> list[Any]:
        """Payloads' `n` in the order they are handed out."""
        order = []
        while found := self.claim(**fields):
            order.append(found["event"]["payload"]["n"])
        return order

    def expire(self) -> None:
        """Lets the time of every lease pass."""
        execute("UPDATE queue_event SET due_at = due_at - interval '13 hours' WHERE state = 'leased'")

    def fall_due(self) -> None:
        """Lets the time of every waiting event come."""
        execute("UPDATE queue_event SET due_at = due_at - interval '31 days' WHERE state = 'waiting'")


def data(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.content
    body = response.json()
    assert (body["code"], body["message"]) == (0, "ok")
    return body["data"]


def execute(text: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def new_worker(api: Api) -> Callable[..., Worker]:
    def make(**settings: Any) -> Worker:
        name = unique("queue")
        data(api.post("/v1/event-queues", {"name": name, **settings}), 201)
        return Worker(api, name)

    return make


@pytest.fixture
def worker(new_worker: Callable[..., Worker]) -> Worker:
    return new_worker()
