"""Commands that need the embedded database while no `up` runs: it is started for them and stopped after them."""

import os
import subprocess
import sys

from local.home import Home
from local.postgres import NotStarted, Postgres
from local.up import surroundings

NEED_STANDSTILL = ("restore",)
COMMANDS = ("dump", "restore")


def main(arguments: list[str]) -> int:
    """Runs a command of Django; with DATABASE_URL, or beside a running `up`, in that database."""
    home = Home.chosen()
    if os.environ.get("DATABASE_URL"):
        home.make()
        return _django(home, arguments, {"DATABASE_URL": os.environ["DATABASE_URL"], "SECRET_KEY": home.secret_key()})
    if home.is_running():
        if arguments[0] in NEED_STANDSTILL:
            sys.exit(f"Towpath runs with the home {home.path}: stop it first.")
        return _django(home, arguments, {})
    return _with_database(home, arguments)


def _with_database(home: Home, arguments: list[str]) -> int:
    home.make()
    if not home.lock():
        sys.exit(f"Towpath already runs with the home {home.path}.")
    home.forget()
    postgres = Postgres(home)
    postgres.prepare()
    try:
        server = postgres.start()
    except NotStarted as error:
        sys.exit(str(error))
    try:
        return _django(home, arguments, {"DATABASE_URL": postgres.url, "SECRET_KEY": home.secret_key()})
    finally:
        postgres.stop(server)
        postgres.remove_socket_folder()
        home.unlock()


def _django(home: Home, arguments: list[str], reached: dict[str, str]) -> int:
    environment = {**os.environ, **surroundings(home, "127.0.0.1"), **reached}
    return subprocess.call([sys.executable, "-m", "django", *arguments], env=environment)
