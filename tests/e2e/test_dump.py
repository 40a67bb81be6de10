"""A whole installation, hot and cold, moved into an empty home, where it goes on."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.e2e.installation import ROOT, SURROUNDINGS

pytestmark = pytest.mark.timeout(900)

SCRIPT = """
import django; django.setup()
from tests.factories import Api
from django.conf import settings
settings.ALLOWED_HOSTS = ["testserver"]
from apps.topics.models import Topic
from apps.topics.operations import merge, spill
from tests.topics.cold import make_old
api = Api((settings.HOME / "api-key").read_text().strip())
"""
FILL = """
api.post("/v1/topics", {"name": "t", "partitions": 1, "retention": {"hot": {"records": 3}}})
api.post("/v1/event-destinations", {"name": "d", "type": "DURABLE_CONSUMER", "topic": "t", "startAt": "oldest"})
topic = Topic.objects.get(name="t")
for first in (0, 10):
    sent = [{"partitionKey": "k", "payload": str(n), "key": str(n)} for n in range(first, first + 10)]
    api.post("/v1/topics/t/records", sent)
    assert spill.sweep_topic(topic) == (10 if first else 7)
make_old(topic)
assert merge.merge_topic(topic) == 2
api.post("/v1/topics/t/partitions/0/commit", {"group": "g", "offset": 5})
assert len(api.post("/v1/event-destinations/d/pull?limit=2&workerId=w").json()["events"]) == 2
"""
GO_ON = """
page = api.get("/v1/topics/t/partitions/0/consume?group=g").json()
assert [record["offset"] for record in page["records"]] == list(range(5, 20)), page
own = api.post("/v1/event-destinations/d/pull?workerId=w").json()
assert len(own["events"]) == 2 and own["generation"] == 0, own
sent = [{"partitionKey": "k", "payload": str(n), "key": str(n)} for n in (3, 20)]
(group,) = api.post("/v1/topics/t/records", sent).json()
assert group["offsets"] == [3, 20], group
assert api.post("/v1/topics", {"name": "another"}).status_code == 201
assert api.post("/v1/event-destinations", {"name": "e", "type": "DURABLE_CONSUMER", "topic": "t"}).status_code == 201
"""


def run(home: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """As manage.py does it, without its look at what is installed."""
    environment = {name: value for name, value in os.environ.items() if name not in SURROUNDINGS}
    environment |= {"TOWPATH_HOME": str(home), "PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}"}
    command = [sys.executable, "-c", "import sys; from local import alone; sys.exit(alone.main(sys.argv[1:]))", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert not check or done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture
def place():
    """Not pytest's own folder: another session closes that to others, among them the user PostgreSQL runs as."""
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
        yield Path(folder)


def test_a_dump_restores_into_an_empty_home_and_goes_on(place):
    first, second, folder = place / "first", place / "second", place / "dumped"
    run(first, "prepare", "--first-run")
    run(first, "shell", "-c", SCRIPT + FILL)
    run(first, "dump", str(folder))
    assert json.loads((folder / "manifest.json").read_text())["objects"] == 1
    assert (folder / "manifest.json").stat().st_mode & 0o077 == 0
    run(second, "restore", str(folder))
    assert (second / "api-key").read_text() == (first / "api-key").read_text()
    run(second, "shell", "-c", SCRIPT + GO_ON)
    again = run(second, "restore", str(folder), check=False)
    assert again.returncode != 0 and "not empty" in again.stderr
