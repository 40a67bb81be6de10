"""Administrators of every role, logged in."""

import importlib
from contextlib import contextmanager

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import sql


@pytest.fixture
def roles(db):
    """Tests with transactions of their own empty every table, also of what the migration put there."""
    importlib.import_module("apps.console.migrations.0001_roles").make_roles(apps, None)


@pytest.fixture
def person(roles):
    def make(name: str, role: str | None = None, **flags) -> User:
        user = User.objects.create_user(name, is_staff=True, **flags)
        if role:
            user.groups.add(Group.objects.get(name=role))
        return user

    return make


@pytest.fixture
def login(client, person):
    """A client of somebody with that role."""

    def as_role(role: str | None):
        client.force_login(person((role or "nobody").lower(), role))
        return client

    return as_role


@pytest.fixture
def at_most(monkeypatch):
    """`with at_most(12):` at most so many statements, those of sql.run included (Django does not see them), and no COUNT."""

    @contextmanager
    def counted(number: int):
        hot, run = [], sql._run
        monkeypatch.setattr(sql, "_run", lambda calls: hot.extend(call[0].path.name for call in calls) or run(calls))
        with CaptureQueriesContext(connection) as captured:
            yield
        monkeypatch.setattr(sql, "_run", run)
        orm = [query["sql"] for query in captured.captured_queries]
        assert len(hot) + len(orm) <= number, [*hot, *orm]
        assert not [text for text in orm if "COUNT(" in text]

    return counted
