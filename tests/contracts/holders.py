"""Everything that hands work out for a time, reduced to the same few calls. A new kind joins by one class here."""

from datetime import datetime
from typing import Any, Protocol
from uuid import uuid4

from tests.destinations import world
from tests.factories import Api, unique
from tests.queues.conftest import Worker, data, execute

Held = dict[str, Any]


class Holder(Protocol):
    terms: tuple[int, int]
    """The shortest and the longest lease, in seconds."""

    def put(self, count: int) -> None: ...
    def take(self, worker: str, seconds: Any = 60) -> Held | None:
        """One event; None when there is nothing."""

    def event(self, held: Held) -> str: ...
    def end(self, held: Held) -> datetime: ...
    def take_status(self, seconds: Any) -> int: ...
    def extend(self, held: Held, seconds: Any) -> int: ...
    def finish(self, held: Held) -> bool:
        """Whether the lease was still good for it."""

    def give_back(self, held: Held) -> bool: ...
    def let_time_pass(self, seconds: int) -> None: ...


class QueueHolder:
    terms = (1, 43_200)

    def __init__(self, api: Api) -> None:
        name = unique("queue")
        data(api.post("/v1/event-queues", {"name": name}), 201)
        self.worker = Worker(api, name)

    def put(self, count: int) -> None:
        for n in range(count):
            self.worker.enqueue({"n": n})

    def take(self, worker: str, seconds: Any = 60) -> Held | None:
        return self.worker.claim(workerId=worker, leaseSeconds=seconds)

    def take_status(self, seconds: Any) -> int:
        return self.worker.api.post(f"{self.worker.path}/claim", {"leaseSeconds": seconds}).status_code

    def event(self, held: Held) -> str:
        return held["event"]["id"]

    def end(self, held: Held) -> datetime:
        return datetime.fromisoformat(held["leaseExpiresAt"])

    def extend(self, held: Held, seconds: Any) -> int:
        return self.worker.call("heartbeat", held, leaseSeconds=seconds).status_code

    def finish(self, held: Held) -> bool:
        return self.worker.call("ack", held).status_code == 200

    def give_back(self, held: Held) -> bool:
        return self.worker.call("nack", held, retryDelaySeconds=0).status_code == 200

    def let_time_pass(self, seconds: int) -> None:
        execute("UPDATE queue_event SET due_at = due_at - %s * interval '1 second'", seconds)


class QueueBatchHolder(QueueHolder):
    """What is finished is finished by the batch, beside an event that nobody has."""

    def finish(self, held: Held) -> bool:
        stranger = {"event": {"id": str(uuid4())}, "leaseToken": held["leaseToken"]}
        said, other = self.worker.ack_several(held, stranger)
        assert other == "NOT_FOUND"
        return said == "acked"


class DestinationHolder:
    terms = (1, 600)

    def __init__(self, api: Api) -> None:
        self.api, self.thing, self.count = api, world.make(api), 0

    def put(self, count: int) -> None:
        world.publish(self.api, self.thing["topic"], count, first=self.count)
        self.count += count

    def _pull(self, **parameters: Any) -> Any:
        return world.pull(self.api, self.thing["name"], limit=1, **parameters)

    def take(self, worker: str, seconds: Any = 60) -> Held | None:
        answer = self._pull(workerId=worker, visibility=seconds)
        return answer.json() if answer.status_code == 200 else None

    def take_status(self, seconds: Any) -> int:
        return self._pull(visibility=seconds).status_code

    def event(self, held: Held) -> str:
        return held["events"][0]["id"]

    def end(self, held: Held) -> datetime:
        return datetime.fromisoformat(held["expiresAt"])

    def extend(self, held: Held, seconds: Any) -> int:
        body = {"leaseId": held["leaseId"], "generation": held["generation"], "visibility": seconds}
        return self.api.post(f"{world.DESTINATIONS}/{self.thing['name']}/extend", body).status_code

    def _settle(self, held: Held, status: str) -> str:
        return world.acknowledge(self.api, self.thing["name"], held, status).json()["status"]

    def finish(self, held: Held) -> bool:
        return self._settle(held, "ok") == "committed"

    def give_back(self, held: Held) -> bool:
        return self._settle(held, "failed") == "requeued"

    def let_time_pass(self, seconds: int) -> None:
        world.age_leases(seconds)


HOLDERS: list[type[Holder]] = [QueueHolder, QueueBatchHolder, DestinationHolder]
