"""The embedded database comes back whatever its last end left behind."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.home import Home
from local.postgres import Postgres
from tests.patience import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    # Not in pytest's folders: a session that begins closes those of others, also under the feet of a running PostgreSQL.
    with tempfile.TemporaryDirectory(prefix="towpath-pg-", dir="/tmp") as folder:
        home = Home(Path(folder) / "home")
        home.make()
        postgres = Postgres(home)
        postgres.prepare()
        yield postgres


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_killed_one_that_its_parent_has_not_looked_at_yet_is_no_obstacle(postgres):
    killed = postgres.start()
    killed.send_signal(signal.SIGKILL)
    until(lambda: state(killed.pid) == "Z")
    locks = [postgres.files / "postmaster.pid", next(postgres._socket.glob(".s.PGSQL.*.lock"))]
    assert [lock.read_text().split()[0] for lock in locks] == [str(killed.pid)] * 2
    again = postgres.start()
    try:
        assert state(killed.pid) == "Z", "it was there all the time"
        assert again.poll() is None
    finally:
        postgres.stop(again)
        killed.wait()
