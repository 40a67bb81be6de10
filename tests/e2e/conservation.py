"""Publishes many varied events, consumes them with four processes that are killed now and then, and accounts for each one.

    python tests/e2e/conservation.py --url http://127.0.0.1:8000 --key-file .towpath/api-key [--events 100000]

Exit code 0 only if every published event was acknowledged, read back unchanged, and nothing came that was not published.
"""

import argparse
import hashlib
import http.client
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WORDS = ["Größe", "日本語", "😀🚀", "naïve", "\u2028", "\\u0000 as text", '"quoted"', "العربية", "plain", "\t\n", "é" * 20]
VISIBILITY_SECONDS = 3


class Client:
    """One kept-open connection; reconnects when the server or the network let go of it."""

    def __init__(self, url: str, key: str) -> None:
        self.address = urlsplit(url)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.connection = self._connect()

    def close(self) -> None:
        self.connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address.hostname or "127.0.0.1", self.address.port, timeout=60)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, Any]:
        text = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        for attempt in range(10):
            try:
                self.connection.request(method, path, text, {**self.headers, "Content-Type": kind})
                response = self.connection.getresponse()
                answer = response.read()
                if response.status == 503:
                    time.sleep(0.2)
                    continue
                return response.status, json.loads(answer) if answer else None
            except (OSError, http.client.HTTPException):
                if attempt == 9:
                    raise
                time.sleep(0.2)
                self.connection.close()
                self.connection = self._connect()
        raise RuntimeError(f"{method} {path}: unavailable for too long")


def digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def varied_data(random_source: random.Random) -> Any:
    """Mostly small, now and then up to 100 KB; nested, with text that breaks careless code."""
    size = random_source.choice([1] * 60 + [10] * 30 + [100] * 9 + [1500])
    items = [
        {"w": random_source.choice(WORDS), "n": random_source.randrange(2**53), "f": random_source.random()}
        for _ in range(size)
    ]
    nested: Any = {"items": items, "none": None, "flag": True, "": "empty name"}
    for depth in range(random_source.randrange(12)):
        nested = {"level": depth, "in": [nested]}
    return nested


def publish(url: str, key: str, topic: str, number: int, seed: int) -> dict[str, str]:
    """Publishes `number` events in batches; answers id → digest of what was sent."""
    client, source, sent = Client(url, key), random.Random(seed), dict[str, str]()
    while len(sent) < number:
        batch, weight = [], 0
        while len(batch) < min(200, number - len(sent)) and weight < 2_000_000:
            data = varied_data(source)
            weight += 60 * len(json.dumps(data)) // 50
            batch.append(
                {
                    "specversion": "1.0",
                    "id": f"{seed}-{len(sent) + len(batch)}",
                    "source": "/conservation",
                    "type": source.choice(["order.made", "order.paid", "stock.moved"]),
                    "subject": f"sku-{source.randrange(500)}",
                    "data": data,
                }
            )
        status, answer = client.call("POST", f"/v1/topics/{topic}/events", batch, "application/cloudevents-batch+json")
        if status != 202:
            raise RuntimeError(f"publish answered {status}: {answer}")
        sent.update({event["id"]: digest(event["data"]) for event in batch})
    return sent


def consume(url: str, key: str, destination: str, worker: str, folder: str) -> None:
    """Pulls, writes down what it got, acknowledges; for ever. Fails one batch in twenty.

    Written before it is acknowledged: a worker killed in between has done the work, and the event comes again to another.
    """
    client, source = Client(url, key), random.Random(worker)
    journal = os.open(f"{folder}/{worker}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    while True:
        query = f"limit={source.choice([1, 20, 100])}&visibility={VISIBILITY_SECONDS}&workerId={worker}&wait=2"
        status, lease = client.call("POST", f"/v1/event-destinations/{destination}/pull?{query}")
        if status != 200:
            continue
        failed = source.random() < 0.05
        if not failed:
            lines = [f"{event['id']} {digest(event['data'])}\n" for event in lease["events"]]
            os.write(journal, "".join(lines).encode())
        outcome = {"leaseId": lease["leaseId"], "generation": lease["generation"], "status": "failed" if failed else "ok"}
        client.call("POST", f"/v1/event-destinations/{destination}/acknowledge", outcome)


class Workers:
    """Consumer processes, one of which is killed without warning every two seconds and replaced by a new one."""

    def __init__(self, number: int, *arguments: str) -> None:
        self.arguments = arguments
        self.kills = 0
        self.context = multiprocessing.get_context("spawn")
        self.processes = [self._start(index) for index in range(number)]
        self.next_kill = time.monotonic() + 2

    def _start(self, index: int) -> SpawnProcess:
        url, key, destination, folder = self.arguments
        name = f"worker-{index}-{self.kills}"
        process = self.context.Process(target=consume, args=(url, key, destination, name, folder), daemon=True)
        process.start()
        return process

    def kill_one_when_due(self) -> None:
        if time.monotonic() < self.next_kill:
            return
        index = self.kills % len(self.processes)
        self.processes[index].kill()
        self.processes[index].join()
        self.kills += 1
        self.processes[index] = self._start(index)
        self.next_kill = time.monotonic() + 2

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.join()


def journals(folder: str) -> list[tuple[str, str]]:
    """(id, digest) of every event that a worker finished, repeats included; half-written last lines are left out."""
    lines = [line for path in Path(folder).iterdir() for line in path.read_text().splitlines(keepends=True)]
    return [(line.split()[0], line.split()[1]) for line in lines if line.endswith("\n")]


def run(url: str, key: str, events: int, workers: int = 4, patience: float = 120) -> bool:
    name = f"conservation-{os.getpid()}-{int(time.time())}"
    client = Client(url, key)
    status, answer = client.call("POST", "/v1/event-destinations", {"name": name, "type": "DURABLE_CONSUMER", "topic": name})
    if status != 201:
        raise RuntimeError(f"making the destination answered {status}: {answer}")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(2) as pool:
        consumers = Workers(workers, url, key, name, folder)
        halves = [events // 2, events - events // 2]
        publishing = pool.starmap_async(publish, [(url, key, name, half, seed) for seed, half in enumerate(halves)])
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            consumers.kill_one_when_due()
            if deadline is None and publishing.ready():
                deadline = time.monotonic() + patience
            if deadline and client.call("GET", f"/v1/event-destinations/{name}/lag")[1]["lagEvents"] == 0:
                break
            time.sleep(0.2)
        consumers.stop()
        client.close()
        sent = {identifier: fingerprint for half in publishing.get() for identifier, fingerprint in half.items()}
        finished = journals(folder)
    return account(sent, finished, consumers.kills, time.monotonic() - started)


def account(sent: dict[str, str], finished: list[tuple[str, str]], kills: int, seconds: float) -> bool:
    received = dict(finished)
    missing = sent.keys() - received.keys()
    invented = received.keys() - sent.keys()
    changed = [identifier for identifier, fingerprint in finished if sent.get(identifier) not in (None, fingerprint)]
    print(
        f"published {len(sent)}, finished {len(received)}, missing {len(missing)}, invented {len(invented)}, "
        f"changed {len(changed)}, finished again after a kill {len(finished) - len(received)}, "
        f"workers killed {kills}, {seconds:.1f} s"
    )
    return bool(sent) and not missing and not invented and not changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key-file", type=Path, default=Path(".towpath/api-key"))
    parser.add_argument("--events", type=int, default=100_000)
    options = parser.parse_args()
    return 0 if run(options.url, options.key_file.read_text().strip(), options.events) else 1


if __name__ == "__main__":
    sys.exit(main())
