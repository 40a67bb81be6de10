"""A real worker and two real beats on the filesystem broker, each a process of its own, against the test's database."""

import os
import subprocess
import sys
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection

from apps.destinations.selectors import find
from config.celery import app
from tests.destinations.world import age_leases, make, publish, pull, sql
from tests.factories import Api, api_key
from tests.patience import until

pytestmark = pytest.mark.django_db(transaction=True)

WORKER = "worker --pool threads --concurrency 2 --without-gossip --without-mingle --loglevel INFO"
STARTED = 180  # seconds: three processes that import everything
BEAT = "beat --pidfile= --loglevel INFO"


def database_url():
    database = connection.settings_dict
    user = quote(database["USER"]) + (f":{quote(database['PASSWORD'])}" if database["PASSWORD"] else "")
    return f"postgresql://{user}@{database['HOST']}:{database['PORT']}/{database['NAME']}"


@pytest.fixture
def start(tmp_path):
    """Starts Celery processes of one home, and ends them."""
    for folder in ("queue", "processed", "control"):
        (tmp_path / "broker" / folder).mkdir(parents=True)
    environment = {
        **os.environ,
        "TOWPATH_HOME": str(tmp_path),
        "DATABASE_URL": database_url(),
        "CELERY_BROKER_URL": "filesystem://",
        "PYTHONPATH": os.pathsep.join([str(settings.BASE_DIR / "platform"), str(settings.BASE_DIR)]),
    }
    running = []

    def start(command):
        log = (tmp_path / f"{len(running)}.log").open("w+")
        arguments = [sys.executable, "-m", "celery", "-A", "config", *command.split()]
        running.append((subprocess.Popen(arguments, env=environment, cwd=settings.BASE_DIR, stdout=log, stderr=log), log))
        return log

    yield start
    for process, log in running:
        process.kill()
        process.wait()
        log.close()


def send(home, task, **options):
    folder = str(home / "broker" / "queue")
    transport = {
        "data_folder_in": folder, "data_folder_out": folder, "control_folder": str(home / "broker" / "control"),
    }  # fmt: skip
    with app.connection_for_write(url="filesystem://", transport_options=transport) as broker:
        app.send_task(task, connection=broker, **options)


def text(log):
    log.flush()
    with open(log.name) as file:
        return file.read()


@pytest.fixture
def leased():
    find.forget_found()
    api = Api(api_key())
    thing = make(api)
    publish(api, thing["topic"], 4)
    for worker in "ab":
        pull(api, thing["name"], limit=2, workerId=worker)
    age_leases(61)


def states():
    return sorted(state for (state,) in sql("SELECT state FROM lease"))


def test_two_beats_and_a_worker_do_everything_once(start, leased):
    """Both beats send; the effects are those of one."""
    worker, *beats = start(WORKER), start(BEAT), start(BEAT)
    until(lambda: states() == ["expired", "expired"], STARTED)
    assert sql("SELECT count(*) = count(DISTINCT name) FROM django_celery_beat_periodictask") == [(True,)]
    until(lambda: all("leases.expire" in text(beat) for beat in beats), STARTED)
    assert sql("SELECT count(*) = count(DISTINCT at) FROM lag_sample") == [(True,)]
    assert "Traceback" not in text(worker) + "".join(map(text, beats))


def test_a_sweep_that_lay_too_long_in_the_broker_is_dropped(start, leased, tmp_path):
    """A worker that was down for a night must not run what beat sent meanwhile."""
    for _ in range(20):
        send(tmp_path, "leases.expire", expires=-1)
    send(tmp_path, "destinations.sample", expires=600)
    log = start(WORKER)
    until(lambda: sql("SELECT count(*) FROM lag_sample")[0][0] == 1, STARTED)
    assert states() == ["leased", "leased"]
    send(tmp_path, "leases.expire", expires=600)
    until(lambda: states() == ["expired", "expired"], STARTED)
    assert "Traceback" not in text(log)
