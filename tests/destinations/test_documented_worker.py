"""The worker of README.md, run as it is pasted."""

import os
import re
import subprocess
import sys

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


def test_the_worker_of_the_readme_handles_and_settles_everything(api, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    thing = make(api, name="billing")
    publish(api, thing["topic"], 30)
    output = tmp_path / "handled"
    with Server(database()) as server, output.open("wb") as sink:
        # The scope and the pattern are those that README.md gives such a worker.
        names = {"BASE": f"http://127.0.0.1:{server.port}", "KEY": api_key("read:events billing")}
        worker = subprocess.Popen([sys.executable, "-c", program], env=os.environ | names, stdout=sink, stderr=sink)
        try:
            until(lambda: lag(api, "billing")["lagEvents"] == 0)
            publish(api, thing["topic"], 1, first=30)
            until(lambda: lag(api, "billing")["lagEvents"] == 0)
            assert worker.poll() is None
            until(lambda: sql("SELECT 1 FROM worker_seen"))  # told by the server
        finally:
            worker.kill()
            worker.wait()
    handled = output.read_text().splitlines()
    assert len(handled) == 31 and all(line.startswith("handled ") for line in handled), handled
