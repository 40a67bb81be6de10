"""What a home keeps is its owner's alone, and one `up` has it at a time."""

import os
import stat
import subprocess
import sys

import pytest

from local import leftovers, logs, ports
from local.home import Home
from local.private_user import COUNT, FIRST, PrivateUser

LISTENER = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); sys.stdin.read()"
)


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home")
    home.make()
    return home


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_closed_to_others_also_when_it_was_open_before(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    Home(tmp_path / "open").make()
    assert mode(tmp_path / "open") & 0o067 == 0


def test_a_secret_stays_the_same_and_is_readable_by_its_owner_only(home):
    first = home.secret("secret-key")
    assert len(first) > 40
    assert home.secret("secret-key") == first
    assert mode(home / "secret-key") == 0o600


def test_a_secret_that_was_cut_short_is_made_anew(home):
    (home / "secret-key").write_text("")
    assert len(home.secret("secret-key")) > 40


def test_only_one_holds_the_lock(home):
    assert home.lock()
    assert not Home(home.path).lock()
    assert Home(home.path).is_running()
    home.unlock()
    assert not Home(home.path).is_running()


def test_what_names_a_database_that_no_longer_runs_is_forgotten(home):
    home.lock()
    home.remember({"DATABASE_URL": "postgresql:///gone"})
    Home(home.path).forget_what_no_longer_runs()
    assert (home / "runtime.json").exists()
    home.unlock()
    Home(home.path).forget_what_no_longer_runs()
    assert not (home / "runtime.json").exists()


def test_a_home_of_somebody_else_is_refused(home, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(SystemExit, match="belongs to user"):
        home.make()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root opens a way for another user")
def test_as_root_the_way_is_opened_for_passing_only(tmp_path, capsys):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    home = Home(closed / "home")
    home.make()
    user = PrivateUser.of(home.path)
    user.let_into(home.path)
    assert FIRST <= user.uid < FIRST + COUNT
    assert mode(closed) == 0o701
    assert mode(home.path) == 0o710
    assert home.path.stat().st_gid == user.uid
    assert str(closed) in capsys.readouterr().err
    home.path.rename(closed / "moved")
    assert PrivateUser.of(closed / "moved") == user


def test_a_normal_user_runs_the_database_himself(home, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert PrivateUser.of(home.path).spawn_options() == {}


def test_a_full_log_is_kept_once_and_its_writer_goes_on(home, monkeypatch):
    monkeypatch.setattr(logs, "MAX_BYTES", 10)
    file = home / "logs/server.log"
    with file.open("ab", buffering=0) as writer:
        writer.write(b"old words, many of them\n")
        logs.trim(home / "logs")
        writer.write(b"new\n")
    assert file.read_text() == "new\n"
    assert (home / "logs/server.log.1").read_text() == "old words, many of them\n"
    assert logs.last_words(file, 3) == ["new"]


def test_a_taken_port_and_its_holder_are_recognised():
    with subprocess.Popen([sys.executable, "-c", LISTENER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        port = int(other.stdout.readline())
        with pytest.raises(OSError):
            ports.claim("127.0.0.1", port)
        assert ports.holder(port).startswith((f"process {other.pid} (", "another process"))
        other.stdin.close()
    assert ports.claim("127.0.0.1", port) == port


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="looks for processes in /proc")
def test_what_a_killed_start_left_behind_is_found_by_its_mark(tmp_path):
    environment = {**os.environ, leftovers.MARK: str(tmp_path)}
    with subprocess.Popen(["sleep", "600"], env=environment) as orphan:
        assert leftovers.gone(lambda: [] if leftovers.started_by(tmp_path) else [0], seconds=60)
        assert leftovers.started_by(tmp_path) == [orphan.pid]
        assert leftovers.started_by(tmp_path / "other") == []
        leftovers.end([orphan.pid])
        orphan.wait(60)
    assert leftovers.started_by(tmp_path) == []
