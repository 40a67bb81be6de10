"""What beat sends is what the worker knows, each under its explicit name."""

import re

from config.celery import app
from config.schedule import SCHEDULE


def our_tasks() -> set[str]:
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith("celery.")}


def test_every_scheduled_task_exists_and_every_task_is_scheduled():
    assert {entry["task"] for entry in SCHEDULE.values()} == our_tasks()


def test_tasks_have_explicit_names_of_app_and_verb():
    for name in our_tasks():
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", name)
        assert f"apps.{name.split('.')[0]}.tasks" == app.tasks[name].__module__


def test_a_task_that_came_too_late_is_dropped():
    for entry in SCHEDULE.values():
        assert entry["options"]["expires"] == entry["schedule"]


def test_nothing_is_retried_or_delayed_by_the_broker():
    for name in our_tasks():
        assert not app.tasks[name].acks_late
        assert not getattr(app.tasks[name], "autoretry_for", ())
