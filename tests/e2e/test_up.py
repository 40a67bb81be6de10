"""One command, one machine: what an operator does to `manage.py up`, and what is left of it afterwards."""

import json
import os
import signal
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.installation import Installation
from tests.patience import PATIENCE, until

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def up() -> Iterator[Installation]:
    """At a place with spaces in its name, and too deep for a socket's path.

    Not in pytest's folders: each new session closes those to others, also under the feet of a running PostgreSQL.
    """
    with tempfile.TemporaryDirectory(prefix="towpath-up-", dir="/tmp") as folder:
        home = Path(folder) / ("a folder with spaces " + "and a long name " * 5) / "home"
        home.parent.mkdir()
        installation = Installation(home)
        try:
            yield installation.start()
        finally:
            installation.kill_everything()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_answers_and_shows_the_way_to_the_admin(up):
    assert up.get("/admin/login/")[0] == 200
    assert up.get("/v1/audit")[0] == 200
    assert f"{up.url}/admin/ (user admin, password in " in up.said()


def test_its_static_files_are_served(up):
    assert up.get("/static/unfold/css/styles.css")[0] == 200


def test_secrets_are_for_the_owner_alone(up):
    for name in ("admin-password", "api-key", "secret-key", "postgres-password", "runtime.json"):
        assert mode(up.home / name) == 0o600, name
    assert mode(up.home) & 0o067 == 0
    assert mode(up.home / "postgres/cluster") == 0o700


def test_the_database_listens_on_no_port_and_takes_nobody_without_a_password(up):
    url = json.loads((up.home / "runtime.json").read_text())["DATABASE_URL"]
    password = (up.home / "postgres-password").read_text().strip()
    refused = up.run("shell", "-c", f"import psycopg; psycopg.connect({url.replace(password, 'guess')!r})")
    assert "password authentication failed" in refused.stderr
    assert "listen_addresses = ''" in (up.home / "postgres/cluster/towpath.conf").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends PostgreSQL another uid")
def test_as_root_postgresql_has_a_uid_that_nobody_else_has(up):
    status = Path(f"/proc/{up.postgres()[0]}/status").read_text()
    ids = {line.split(":")[0]: set(line.split(":")[1].split()) for line in status.splitlines()}
    owner = str((up.home / "postgres/cluster").stat().st_uid)
    assert ids["Uid"] == {owner} and ids["Gid"] == {owner} and ids["Groups"] <= {owner}
    assert int(owner) >= 60706


def test_a_second_one_on_the_same_home_says_so(up):
    second = up.run("up", "--port", "0")
    assert second.returncode == 1
    assert f"already runs with the home {up.home}" in second.stderr


def test_a_taken_port_is_refused_with_the_name_of_its_holder(up, tmp_path):
    other = up.run("up", "--port", str(up.port), "--home", str(tmp_path / "home"))
    assert other.returncode == 1
    assert f"Port {up.port} is taken by process {up.parts('server')[0]} " in other.stderr


def test_other_commands_find_it_by_its_home(up):
    made = up.run("create_api_key", "reader", "--scope", "manage:events")
    assert up.get("/v1/audit", made.stdout.strip())[0] == 200, made.stderr


@pytest.mark.parametrize("name", ["server", "worker", "beat", "forward"])
def test_a_part_that_dies_is_named_and_started_again(up, name):
    before = up.parts(name)
    os.kill(before[0], signal.SIGKILL)
    until(lambda: f"{name} ended (signal 9); starting it again" in up.said(), 2 * PATIENCE)
    until(lambda: up.parts(name) and not set(before) & set(up.parts(name)), 2 * PATIENCE)
    until(lambda: up.get("/v1/audit")[0] == 200, 2 * PATIENCE)


def test_a_database_that_dies_is_started_again(up):
    os.kill(up.postgres()[0], signal.SIGKILL)
    until(lambda: "postgres ended (signal 9); starting it again" in up.said(), 2 * PATIENCE)
    until(lambda: up.get("/v1/audit")[0] == 200, 2 * PATIENCE)
    until(up.proves_itself_anew, 2 * PATIENCE, "beat and worker work again, not only live")


def test_what_is_left_without_a_supervisor_ends_and_the_next_start_has_everything(up):
    password = (up.home / "admin-password").read_text()
    port = up.port
    os.kill(up.supervisor.pid, signal.SIGKILL)
    up.supervisor.wait()
    until(lambda: not up.parts(), 2 * PATIENCE, "children without a supervisor end")
    assert up.postgres(), "PostgreSQL lives on until the next start"
    up.start(port)
    assert up.get("/v1/audit")[0] == 200
    assert (up.home / "admin-password").read_text() == password


def test_after_everything_was_killed_a_stale_pid_of_somebody_else_is_no_obstacle(up):
    up.kill_everything()
    stale = up.home / "postgres/cluster/postmaster.pid"
    stale.write_text(f"{os.getpid()}\n" + stale.read_text().partition("\n")[2])
    assert up.start().get("/v1/audit")[0] == 200


def test_commands_say_so_when_nothing_runs(up):
    up.kill_everything()
    told = up.run("shell", "-c", "from apps.access.models import ApiKey; ApiKey.objects.count()")
    assert told.returncode == 1
    assert "no `manage.py up` runs with its home at" in told.stderr
    assert not (up.home / "runtime.json").exists()


def test_half_a_pid_file_and_an_interrupted_first_start_are_no_obstacle(up):
    (up.home / "postgres/cluster/postmaster.pid").write_text("12")
    (up.home / "postgres/cluster.new").mkdir()
    assert up.start().get("/v1/audit")[0] == 200


def test_an_interrupt_ends_everything_in_time(up):
    with socket.create_connection(("127.0.0.1", up.port)) as idle:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(100)
        assert up.interrupt() == 0
    assert up.leaves_nothing()
    assert not (up.home / "runtime.json").exists()
    assert "database system is shut down" in (up.home / "logs/postgres.log").read_text().splitlines()[-1]
