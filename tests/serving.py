"""A real server process on a free port, for tests and benchmarks that need sockets."""

import http.client
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.patience import PATIENCE, until

ROOT = Path(__file__).resolve().parents[1]


# A server that was stopped for seconds by a busy machine refuses nobody and cuts nobody off for it.
PATIENT = {
    "TOWPATH_LANE_SECONDS": "60",
    "TOWPATH_JOIN_SECONDS": "60",
    "TOWPATH_HOT_ANSWER_SECONDS": "60",
    "TOWPATH_SLOW_ANSWER_SECONDS": "60",
    "TOWPATH_SEND_SECONDS": "300",
    "TOWPATH_STOP_SECONDS": "30",
    "TOWPATH_PROOF_SECONDS": "30",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    def __init__(
        self,
        database_url: str,
        settings: str = "config.settings",
        port: int | None = None,
        patient: bool = True,
        **environment: str,
    ) -> None:
        """`patient` or, to be measured, as an installation has it."""
        self.port = port or free_port()
        self.database_url = database_url
        self._log = tempfile.TemporaryFile()
        self.environment = {
            "SECRET_KEY": secrets.token_urlsafe(50),
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}",
            "DJANGO_SETTINGS_MODULE": settings,
            "DATABASE_URL": database_url,
            "TOWPATH_LOG_FORMAT": "json",
            **(PATIENT if patient else {}),
            **environment,
        }

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def start(self, **popen: Any) -> None:
        command = [sys.executable, "-m", "gateway.server", "--port", str(self.port)]
        self.process = subprocess.Popen(command, env=self.environment, cwd=ROOT, stderr=self._log, **popen)
        until = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                self.process.wait()
                raise AssertionError(self.log())
            time.sleep(0.02)

    def _answers(self) -> bool:
        """Its own word first: on a shared port another process may answer."""
        try:
            return "gateway.started" in self.log() and self.get("/healthz").status == 200
        except OSError:
            return False

    def get(self, path: str, **headers: str) -> http.client.HTTPResponse:
        return self.request("GET", path, headers=headers)

    def request(self, method: str, path: str, body: bytes | None = None, **arguments: Any) -> http.client.HTTPResponse:
        """One request on a connection of its own; the answer's body is in `.content`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, **arguments)
            response = connection.getresponse()
            response.content = response.read()  # type: ignore[attr-defined]
            return response
        finally:
            connection.close()

    def figure(self, line: str, path: str = "/metrics") -> float:
        """One line of its metrics: `towpath_pool_queue{lane="hot"}`; what was never counted is 0."""
        answer = until(lambda: (found := self.get(path)).status == 200 and found)
        found = re.search(rf"^{re.escape(line)} (\S+)$", answer.content.decode(), re.MULTILINE)
        return float(found[1]) if found else 0.0

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Comes back when it has ended."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self._said = self.log()
        self._log.close()

    @property
    def place(self) -> tuple[int, int, str]:
        """Port, pid and database."""
        return self.port, self.process.pid, self.database_url

    def log(self) -> str:
        """What it has written to standard error so far."""
        if self._log.closed:
            return self._said
        return os.pread(self._log.fileno(), 50_000_000, 0).decode()
