"""The workers of README.md and docs/durable-consumers.md, run as they are pasted."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from psycopg.conninfo import make_conninfo

from tests.architecture.sources import ROOT
from tests.destinations.world import lag, make, publish, sql
from tests.factories import api_key
from tests.patience import until
from tests.serving import Server

pytestmark = pytest.mark.django_db(transaction=True)


def database() -> str:
    chosen = settings.DATABASES["default"]
    names = {name.lower(): chosen[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if chosen[name]}
    return make_conninfo(dbname=chosen["NAME"], **names)


def documented(page: str) -> str:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return program


@contextmanager
def at_work(program: str, output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The program beside a server, with the scope and the pattern that README.md gives such a worker."""
    with Server(database()) as server, output.open("wb") as sink:
        names = {"BASE": f"http://127.0.0.1:{server.port}", "KEY": api_key("read:events billing")}
        worker = subprocess.Popen([sys.executable, "-c", program], env=os.environ | names, stdout=sink, stderr=sink)
        try:
            yield worker
        finally:
            worker.kill()
            worker.wait()


@pytest.mark.parametrize("page", ["README.md", "docs/durable-consumers.md"])
def test_the_worker_of_a_page_handles_and_settles_everything(api, tmp_path, page):
    thing = make(api, name="billing")
    publish(api, thing["topic"], 30)
    output = tmp_path / "handled"
    with at_work(documented(page), output) as worker:
        until(lambda: lag(api, "billing")["lagEvents"] == 0)
        publish(api, thing["topic"], 1, first=30)
        until(lambda: lag(api, "billing")["lagEvents"] == 0)
        assert worker.poll() is None
        until(lambda: sql("SELECT 1 FROM worker_seen"))  # told by the server
    handled = output.read_text().splitlines()
    assert len(handled) == 31 and all(line.startswith("handled ") for line in handled), handled


def test_the_worker_gives_back_only_what_failed_and_says_why(api, tmp_path):
    handling = 'print("handled", event["id"], flush=True)'
    program = documented("docs/durable-consumers.md")
    assert handling in program
    program = program.replace(handling, f'assert event["id"] != "k-3", "the mail server is away"\n    {handling}')
    thing = make(api, name="billing", maxDeliveries=1)
    publish(api, thing["topic"], 5)
    output = tmp_path / "handled"
    with at_work(program, output):
        until(lambda: lag(api, "billing")["lagEvents"] == 0)
    letters = api.get("/v1/event-destinations/billing/dead-letters").json()["items"]
    assert [(letter["event"]["id"], "the mail server is away" in letter["error"]) for letter in letters] == [("k-3", True)]
    assert len(output.read_text().splitlines()) == 4, output.read_text()
