"""A worker as a program has it: a thread that pulls and acknowledges over HTTP until it is told to rest."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.serving import Server

PATIENCE = 60.0  # seconds; only a failing test waits so long
Answer = tuple[int, Any]


class Client:
    """Calls of the API on connections of their own, from any thread."""

    def __init__(self, server: Server, key: str) -> None:
        self.server, self.key = server, key

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        answer = self.server.request(method, path, body and json.dumps(body).encode(), headers=headers)
        content = answer.content  # type: ignore[attr-defined]
        return answer.status, json.loads(content) if content else None

    def destination(self, name: str) -> "Reader":
        return Reader(self, f"/v1/event-destinations/{name}")


class Reader:
    def __init__(self, client: Client, path: str) -> None:
        self.client, self.path = client, path

    def pull(self, worker: str, **parameters: int) -> Answer:
        return self.client.call("POST", f"{self.path}/pull?{urlencode({'workerId': worker, **parameters})}")

    def acknowledge(self, batch: Any, status: str = "ok", **more: str) -> str:
        """What became of it, in the API's word."""
        body = {"leaseId": batch["leaseId"], "generation": batch["generation"], "status": status, **more}
        code, answer = self.client.call("POST", f"{self.path}/acknowledge", body)
        assert code == 200, answer
        return str(answer["status"])

    def get(self, what: str) -> Any:
        code, answer = self.client.call("GET", f"{self.path}/{what}")
        assert code == 200, answer
        return answer


class Worker(threading.Thread):
    """What it was answered and given is kept; `sees` waits for it."""

    def __init__(self, reader: Reader, name: str, limit: int = 20) -> None:
        super().__init__(name=name, daemon=True)
        self.reader, self.limit = reader, limit
        self.answers: list[int] = []
        self.given: list[tuple[str, int]] = []
        """Sequence and attempt of each event that was handed to it."""
        self.refused: list[str] = []
        """Codes of the errors it was answered."""
        self._news = threading.Condition()
        self._is_over = threading.Event()
        self._failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self._is_over.is_set():
                self._turn()
        except Exception as error:  # told to whoever waits
            self._failure = error
            with self._news:
                self._news.notify_all()

    def _turn(self) -> None:
        status, batch = self.reader.pull(self.name, limit=self.limit, visibility=600, wait=1)
        if status == 200:
            assert self.reader.acknowledge(batch) in ("committed", "stale")
        with self._news:
            self.answers.append(status)
            if status == 200:
                self.given += [(event["sequence"], batch["attempt"]) for event in batch["events"]]
            elif status != 204:
                self.refused.append(batch["error"]["code"])
            self._news.notify_all()
        if status not in (200, 204):
            self._is_over.wait(0.1)

    def sees(self, condition: Callable[["Worker"], bool]) -> None:
        """Waits until it has seen that, for as long as it takes."""
        until = time.monotonic() + PATIENCE
        with self._news:
            while not condition(self):
                left = until - time.monotonic()
                if self._failure is not None or left <= 0:
                    raise AssertionError(f"{self.answers[-20:]} {self.refused[-5:]}") from self._failure
                self._news.wait(left)

    def forget(self) -> None:
        """What comes after this is new."""
        with self._news:
            self.answers, self.given, self.refused = [], [], []

    def rest(self) -> None:
        """Ends it, after the turn that it is at."""
        self._is_over.set()
        self.join(PATIENCE)
        assert not self.is_alive()
