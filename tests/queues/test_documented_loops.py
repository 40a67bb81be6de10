"""The loops of docs/reliable-consumers.md, run as they are pasted, also when workers are killed."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from playwright._impl._driver import compute_driver_executable
from psycopg.conninfo import make_conninfo

from apps.queues.operations import queues
from apps.queues.operations.enqueue import NewEvent, enqueue
from apps.queues.selectors import QueueRow, find_queue
from core import notices
from tests.architecture.sources import ROOT
from tests.factories import api_key, unique
from tests.patience import PATIENCE, until
from tests.queues.conftest import execute
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = (ROOT / "docs" / "reliable-consumers.md").read_text()


def node() -> str:
    """One that runs TypeScript itself: the machine's, or the one that Playwright brings along."""
    for found in (shutil.which("node"), compute_driver_executable()[0]):
        if found and Path(found).exists():
            version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
            if tuple(map(int, re.findall(r"\d+", version)[:2])) >= (22, 18):
                return found
    pytest.skip("There is no Node 22.18 or newer.")


def loop(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return text


@pytest.fixture(params=["python", "typescript"])
def program(request, tmp_path: Path) -> list[str]:
    python = request.param == "python"
    file = tmp_path / ("consumer.py" if python else "consumer.mts")
    file.write_text(loop(request.param))
    return [sys.executable if python else node(), str(file)]


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[Server]:
    database = settings.DATABASES["default"]
    names = {name.lower(): database[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if database[name]}
    with Server(make_conninfo(dbname=database["NAME"], **names)) as running:
        yield running


@pytest.fixture
def queue() -> QueueRow:
    name = unique("loop")
    queues.create(None, name, max_attempts=50)
    return find_queue(name)


def test_it_works_through_everything_though_workers_are_killed(program, server, queue, tmp_path):
    environment = {
        **os.environ,
        "BASE": f"http://127.0.0.1:{server.port}",
        "KEY": api_key(f"read:queues {queue.name}"),
        "QUEUE": queue.name,
    }
    output = tmp_path / "handled"

    def start() -> subprocess.Popen:
        with output.open("ab") as sink:
            return subprocess.Popen(program, env=environment, stdout=sink, stderr=sink)

    def handled() -> set[str]:
        return set(re.findall(r"handled (\S+)", output.read_text()))

    workers = [start() for _ in range(2)]
    try:
        made = [event.id for event in enqueue(queue, [NewEvent(f'{{"n": {n}}}') for n in range(60)])]
        for seen in (5, 20):
            until(lambda seen=seen: len(handled()) >= seen)
            workers[0].kill()
            workers[0].wait()
            workers[0] = start()

        def finished() -> bool:
            # As if leases lasted 5 s of their 60: those of the killed end, and the others have long been acknowledged.
            execute(
                "UPDATE queue_event SET due_at = statement_timestamp()"
                " WHERE state = 'leased' AND due_at < statement_timestamp() + interval '55 seconds'"
            )
            notices.publish(queue.notice_key, 2)
            return execute("SELECT count(*) FROM queue_event") == [(0,)]

        until(finished)
        assert handled() == {str(event) for event in made}
        for worker in workers:
            worker.terminate()
        late = enqueue(queue, [NewEvent("{}"), NewEvent("{}")])
        # One of them may take both before its signal arrives; the other's open wait of 20 s then has to end by itself.
        assert [worker.wait(PATIENCE) for worker in workers] == [0, 0], output.read_text()
        assert len(late) == 2
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert "Traceback" not in output.read_text()


def test_the_types_of_the_typescript_loop_are_strictly_right(tmp_path):
    npm = shutil.which("npm")
    packages = [npm, "install", "--no-audit", "--no-fund", "--silent", "typescript@5", "@types/node@22"]
    if npm is None or subprocess.run(packages, cwd=tmp_path, capture_output=True, timeout=60, check=False).returncode:
        pytest.skip("TypeScript cannot be had from npm here.")
    (tmp_path / "consumer.mts").write_text(loop("typescript"))
    rules = "--strict --noEmit --erasableSyntaxOnly --verbatimModuleSyntax --noUncheckedIndexedAccess --noUnusedLocals"
    command = ["npx", "tsc", *rules.split(), "--target", "es2022", "--module", "nodenext", "consumer.mts"]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
