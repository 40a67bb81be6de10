"""`manage.py test`: every test on a database of its own; arguments go to pytest, `--full` makes the long ones long."""

import os
import subprocess
import sys

from local import ports
from local.bootstrap import ROOT
from local.home import Home
from local.postgres import NotStarted, Postgres

FULL_SCALE = "10"


def main(arguments: list[str]) -> int:
    home = Home.chosen()
    if "--full" in arguments:
        arguments = [argument for argument in arguments if argument != "--full"]
        os.environ.setdefault("TOWPATH_TEST_SCALE", FULL_SCALE)
    if os.environ.get("DATABASE_URL"):
        return _pytest(home, os.environ["DATABASE_URL"], arguments)
    return _with_own_database(home, arguments)


def _with_own_database(home: Home, arguments: list[str]) -> int:
    home.make()
    lock = Home(home / "test")
    lock.make()
    if not lock.lock():
        sys.exit(f"Another `manage.py test` runs with the home {home.path}.")
    postgres = Postgres(home, "test-postgres", test_port=ports.claim("127.0.0.1", 0))
    postgres.prepare()
    try:
        server = postgres.start()
    except NotStarted as error:
        sys.exit(str(error))
    try:
        return _pytest(home, postgres.url, arguments)
    finally:
        postgres.stop(server)
        postgres.remove_socket_folder()


def _pytest(home: Home, database: str, arguments: list[str]) -> int:
    # A home of its own: a running `up` is neither read nor disturbed.
    environment = {**os.environ, "DATABASE_URL": database, "TOWPATH_HOME": str(home / "test")}
    run = subprocess.Popen([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=environment)
    while True:
        try:
            return run.wait()
        except KeyboardInterrupt:
            continue  # the terminal has told pytest as well; its report is waited for
