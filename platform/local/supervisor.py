"""Starts the processes of one installation, starts again what dies, and stops all in order, PostgreSQL last."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType

from local.bootstrap import ROOT
from local.home import Home
from local.logs import last_words, trim
from local.postgres import NotStarted, Postgres

TICK_SECONDS = 0.1
LONGEST_PAUSE = 30.0
DATABASE_PAUSE = 1.0
STEADY_SECONDS = 60.0  # alive for this long: the next death counts as the first


@dataclass
class Part:
    """One process: `module` as for `python -m`; `grace` is how long it may take to end by itself."""

    name: str
    module: str
    arguments: Sequence[str]
    grace: float
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    due: float = 0.0


@dataclass
class Supervisor:
    home: Home
    environment: dict[str, str]
    parts: Sequence[Part]
    postgres: Postgres | None
    _database: subprocess.Popen[bytes] | None = None
    _lifeline: tuple[int, int] = field(default_factory=os.pipe)
    _stopping: bool = False
    _at_once: bool = False

    def catch_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup the end of the terminal is not ours.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._stopping:
            self._at_once = True
            return
        self._stopping = True
        raise KeyboardInterrupt

    def start_database(self) -> None:
        if self.postgres is not None:
            self._database = self.postgres.start()

    def run(self, part: Part) -> bool:
        """Runs one to its end; True if it succeeded."""
        self._spawn(part)
        assert part.process is not None
        return part.process.wait() == 0

    def watch(self) -> None:
        """One look: what died is started again, the sooner the longer it had lived."""
        now = time.monotonic()
        if self._database is not None and self._database.poll() is not None:
            self._revive_database()
        for part in self.parts:
            if part.process is None:
                if now >= part.due:
                    self._spawn(part)
            elif part.process.poll() is not None:
                self._bury(part, now)
        trim(self.home / "logs")

    def stop(self) -> None:
        """Told in the order of the table, waited for together, PostgreSQL after all; a second signal makes it immediate."""
        self._stopping = True
        deadlines = {part.name: time.monotonic() + part.grace for part in self.parts}
        for part in self.parts:
            if part.process is not None:
                part.process.terminate()
        for part in self.parts:
            self._await_end(part, deadlines[part.name])
        if self.postgres is not None and self._database is not None:
            self.postgres.stop(self._database, self._at_once)
            self.postgres.remove_socket_folder()
        self.home.forget()

    def _revive_database(self) -> None:
        assert self._database is not None
        say(f"postgres {ended(self._database)}; starting it again")
        try:
            self.start_database()
        except NotStarted as error:
            say(f"{error} Trying again in {DATABASE_PAUSE:.0f} s")
            time.sleep(DATABASE_PAUSE)

    def _spawn(self, part: Part) -> None:
        reading, _ = self._lifeline
        with (self.home / f"logs/{part.name}.log").open("ab") as log:
            part.process = subprocess.Popen(
                [sys.executable, "-m", "local.tether", str(reading), part.module, *part.arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT, pass_fds=[reading], start_new_session=True,
                env={**self.environment, "TOWPATH_PROCESS": f"towpath {part.name}"},
            )  # fmt: skip
        part.started = time.monotonic()

    def _bury(self, part: Part, now: float) -> None:
        assert part.process is not None
        _kill_session(part.process)
        part.deaths = 1 if now - part.started > STEADY_SECONDS else part.deaths + 1
        pause = min(LONGEST_PAUSE, 2.0 ** (part.deaths - 1))
        say(f"{part.name} {ended(part.process)}; starting it again in {pause:.0f} s")
        for line in last_words(self.home / f"logs/{part.name}.log", 3):
            say(f"  {part.name}: {line}")
        part.process, part.due = None, now + pause

    def _await_end(self, part: Part, deadline: float) -> None:
        if part.process is None:
            return
        while part.process.poll() is None and time.monotonic() < deadline and not self._at_once:
            time.sleep(0.02)
        _kill_session(part.process)
        part.process.wait()


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    """Also a server's own workers, which would keep the port."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def ended(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    return f"ended (signal {-code})" if code < 0 else f"ended (exit code {code})"


def say(text: str) -> None:
    print(f"towpath: {text}", file=sys.stderr, flush=True)
