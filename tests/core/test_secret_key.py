"""What serves refuses to start with a key of its own making; what only works on the database needs none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from core import secret_key
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
MANAGE = str(ROOT / "manage.py")


def run(home, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("SECRET_KEY", "CELERY_BROKER_URL")}
    ours = {
        "DATABASE_URL": "postgresql://127.0.0.1:1/none",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}",
        "TOWPATH_HOME": str(home),
    }
    return subprocess.run(
        [sys.executable, *arguments], env={**kept, **ours, **environment}, cwd=ROOT, capture_output=True, text=True,
        timeout=4 * PATIENCE,
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "gateway.server", "--port", "0"],
        ["-m", "celery", "-A", "config", "worker", "--pool", "threads"],
        ["-m", "celery", "-A", "config", "beat", "--pidfile=", "-S", "celery.beat:Scheduler"],
        [MANAGE, "forward"],
        ["-c", "import config.wsgi"],
    ],
    ids=["server", "worker", "beat", "forward", "wsgi"],
)
def test_what_serves_does_not_start_without_a_key_and_says_how_to_make_one(tmp_path, command):
    ended = run(tmp_path, *command)
    assert ended.returncode != 0
    assert "SECRET_KEY is not set" in ended.stderr and "secrets.token_urlsafe(50)" in ended.stderr


@pytest.mark.parametrize("command", [["check"], ["makemigrations", "--check", "--dry-run"]], ids=lambda command: command[0])
def test_commands_that_sign_nothing_need_no_key(tmp_path, command):
    ended = run(tmp_path, MANAGE, *command)
    assert ended.returncode == 0, ended.stderr


def test_with_a_key_it_is_served(tmp_path):
    ended = run(tmp_path, "-c", "import config.wsgi; print('served')", SECRET_KEY="x" * 50)
    assert "served" in ended.stdout, ended.stderr


def test_a_key_made_up_by_a_process_is_refused_but_under_debug(settings):
    settings.SECRET_KEY = secret_key.MADE_UP + "x" * 50
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is not set"):
        secret_key.require()
    settings.DEBUG = True
    secret_key.require()


def test_two_installations_on_one_broker_may_have_queues_of_different_names(tmp_path):
    shown = "from config.celery import app; print(app.amqp.router.route({}, 'console.prove_beat')['queue'].name)"
    assert run(tmp_path, "-c", shown).stdout.strip() == "towpath"
    assert run(tmp_path, "-c", shown, TOWPATH_CELERY_QUEUE="towpath-b").stdout.strip() == "towpath-b"
