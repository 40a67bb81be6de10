"""`manage.py forward` as processes of their own, against the database of the test."""

import os
import signal
import subprocess
import sys
import tempfile
import time

from django.db import connection

from core.notices import connection_parameters
from tests.factories import unique
from tests.patience import PATIENCE
from tests.serving import ROOT


def database_url() -> str:
    known = connection_parameters(connection.get_connection_params())
    host, port = known.get("host", "127.0.0.1"), known.get("port", 5432)
    secret = f":{known['password']}" if known.get("password") else ""
    return f"postgresql://{known['user']}{secret}@{host}:{port}/{known['dbname']}"


class Forward:
    def __init__(self, **environment: str) -> None:
        self.log = tempfile.TemporaryFile()
        ours = {"DATABASE_URL": database_url(), "TOWPATH_LOG_FORMAT": "json"}
        self._environment = {**os.environ, **ours, **environment}
        self.start()

    def start(self) -> None:
        command = [sys.executable, str(ROOT / "manage.py"), "forward"]
        self.started, self.name = time.monotonic(), unique("towpath-forward")
        environment = {**self._environment, "TOWPATH_PROCESS": self.name}
        self.process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=self.log, stderr=self.log)

    def is_at_work(self) -> bool:
        """Whether it has come so far as to ask the database."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = %s", [self.name])
            return cursor.fetchone() is not None

    def end(self, number: int = signal.SIGTERM, within: float = PATIENCE) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(within)

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read().decode()
