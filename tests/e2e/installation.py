"""A Towpath of its own for a test: `manage.py up` as a subprocess, with its home, its port and its output in a file."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.patience import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]
MARK = "TOWPATH_STARTED_BY_HOME"
SURROUNDINGS = {"DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY", "ALLOWED_HOSTS", "TOWPATH_HOME", MARK}


class Installation:
    def __init__(self, home: Path, **environment: str) -> None:
        self.home = home
        kept = {name: value for name, value in os.environ.items() if name not in SURROUNDINGS}
        self.environment = {**kept, **environment}
        self.output = home.parent / "output.txt"
        self.asked: float | None = None
        self.supervisor: subprocess.Popen[bytes] | None = None

    def start(self, port: int = 0) -> "Installation":
        self.spawn(port)
        until(lambda: "Towpath is ready" in self.said() or not self.runs(), 4 * PATIENCE, "ready")
        assert self.runs(), self.said()
        return self

    def spawn(self, port: int = 0) -> None:
        with self.output.open("wb") as output:
            self.supervisor = subprocess.Popen(
                [*self.manage("up"), "--home", str(self.home), "--port", str(port)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=self.environment, start_new_session=True,
            )  # fmt: skip

    def manage(self, command: str) -> list[str]:
        return [sys.executable, str(ROOT / "manage.py"), command]

    def run(self, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.manage(command), *arguments], capture_output=True, text=True, timeout=4 * PATIENCE,
            env={**self.environment, "TOWPATH_HOME": str(self.home)},
        )  # fmt: skip

    def runs(self) -> bool:
        return self.supervisor is not None and self.supervisor.poll() is None

    def said(self) -> str:
        return self.output.read_text(errors="replace")

    @property
    def url(self) -> str:
        found = re.search(r"Towpath is ready: (http://\S+)/admin/", self.said())
        assert found, self.said()
        return found[1]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def get(self, path: str, token: str | None = None) -> tuple[int, str]:
        """Status 0: nobody answered."""
        headers = {"Authorization": f"Bearer {token or (self.home / 'api-key').read_text().strip()}"}
        try:
            with urllib.request.urlopen(
                urllib.request.Request(self.url + path, headers=headers), timeout=PATIENCE
            ) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def proves_itself_anew(self) -> bool:
        """Beat, broker, worker and database did something together after this call; to be asked again and again."""
        status, told = self.get("/readyz")
        asked, now = self.asked, time.monotonic()
        self.asked = asked if asked is not None else now
        proven = json.loads(told)["parts"]["beat"]["secondsAgo"] if status == 200 else None
        return proven is not None and asked is not None and proven < now - asked

    def parts(self, name: str = "") -> list[int]:
        """Processes that this installation started, PostgreSQL aside; by the name of the part."""
        wanted = {f"{MARK}={self.home}".encode(), *([f"TOWPATH_PROCESS=towpath {name}".encode()] if name else [])}
        return [pid for pid in pids() if wanted <= set(environment(pid).split(b"\0"))]

    def postgres(self) -> list[int]:
        """The postmaster first."""
        return [pid for pid in pids() if working_directory(pid) == str(self.home / "postgres/cluster")]

    def leaves_nothing(self) -> bool:
        return not self.parts() and not self.postgres()

    def kill_everything(self) -> None:
        supervisor = [self.supervisor.pid] if self.supervisor and self.runs() else []
        for pid in [*supervisor, *self.parts(), *self.postgres()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.supervisor:
            self.supervisor.wait(PATIENCE)
        until(self.leaves_nothing, what="killed")

    def interrupt(self, seconds: float = 2 * PATIENCE) -> int:
        assert self.supervisor is not None
        self.supervisor.send_signal(signal.SIGINT)
        return self.supervisor.wait(seconds)


def pids() -> list[int]:
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def working_directory(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
