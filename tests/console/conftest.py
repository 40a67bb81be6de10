"""Administrators of every role, logged in."""

import importlib

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User


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
