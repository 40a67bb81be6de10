"""Is everything there that a request may need? Each part says yes only by proof, and tells nothing that is secret."""

import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import F
from django.db.models.functions import Now

from apps.console.models import BeatProof
from core.waits import listening

PROOF_SECONDS = 30
REMEMBERED_SECONDS = 1.0
BROKER_SECONDS = 2

Part = dict[str, Any]


def prove_beat() -> int:
    """What the task does that beat sends every 10 s. Two beats write the same row."""
    BeatProof.objects.update_or_create(id=1, defaults={"proved_at": Now()})
    return 1


class Remembered:
    """One look a second whoever asks: a probe that comes often, or a broker that answers late, costs no more than that."""

    def __init__(self, look: Callable[[], dict[str, Part]]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._seen: dict[str, Part] = {}
        self._until = 0.0

    def __call__(self) -> dict[str, Part]:
        # While somebody looks, the others answer what was seen last; only the very first wait.
        if time.monotonic() < self._until or not self._lock.acquire(blocking=not self._seen):
            return self._seen
        try:
            if time.monotonic() >= self._until:
                self._seen = self._look()
                self._until = time.monotonic() + REMEMBERED_SECONDS
            return self._seen
        finally:
            self._lock.release()

    def forget(self) -> None:
        self._until = 0.0


def look() -> dict[str, Part]:
    return {name: _checked(check) for name, check in CHECKS.items()}


def _checked(check: Callable[[], Part]) -> Part:
    try:
        return check()
    except Exception as error:
        # The class says enough; the text of an error of a connection may hold addresses.
        return {"ok": False, "reason": type(error).__name__}


def _database() -> Part:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {"ok": True}


def _migrations() -> Part:
    missing = len(_known_migrations() - set(MigrationRecorder(connection).applied_migrations()))
    return {"ok": missing == 0, "missing": missing}


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Those that this process came with; reading the folders at each probe would cost more than all the rest."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _broker() -> Part:
    if folder := settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("data_folder_in"):
        return {"ok": os.access(str(folder), os.R_OK | os.W_OK | os.X_OK)}
    with current_app.connection_for_write(connect_timeout=BROKER_SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    return {"ok": True}


def _beat() -> Part:
    age = BeatProof.objects.annotate(age=Now() - F("proved_at")).values_list("age", flat=True).first()
    if age is None:
        return {"ok": False, "secondsAgo": None}
    seconds = round(age.total_seconds(), 1)
    return {"ok": seconds <= PROOF_SECONDS, "secondsAgo": seconds}


def _listener() -> Part:
    """None is a process without the gateway, such as runserver: there nothing waits."""
    return {"ok": listening.alive is not False}


CHECKS: dict[str, Callable[[], Part]] = {
    "database": _database,
    "migrations": _migrations,
    "broker": _broker,
    "beat": _beat,
    "listener": _listener,
}
report = Remembered(look)
