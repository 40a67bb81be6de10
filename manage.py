#!/usr/bin/env python3
"""The one command: `up` and `test` need nothing but Python; everything else is Django's."""

import os
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(ROOT, "platform"), ROOT]
USAGE = """\
Towpath's own commands (each says more with --help):

    up              install, then run PostgreSQL, server, worker, forwarder and beat until Ctrl-C
    test            install, then run the tests on a database of their own; arguments go to pytest
    create_api_key  make an API key; create_oauth_client likewise
    dump, restore   the whole installation, hot and cold, into a folder and out of it
    export_topic, import_topic
                    the events of a topic as JSON lines of CloudEvents

Those below are Django's, for the database of the running `up` or of DATABASE_URL.
"""


def main():
    # Without annotations and newer syntax on purpose: an old Python must get as far as this sentence.
    if sys.version_info < (3, 11):
        sys.exit(
            "Towpath needs Python 3.11 or newer, and this is Python %d.%d (%s)." % (sys.version_info[:2] + (sys.executable,))
        )
    from local import bootstrap

    if sys.argv[1:] == ["help", "up"]:
        sys.argv[1:] = ["up", "--help"]
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    bootstrap.enter("dev" if command == "test" else "base")
    if command == "up":
        from local import up

        sys.exit(up.main(sys.argv[2:]))
    if command == "test":
        from local import suite

        sys.exit(suite.main(sys.argv[2:]))
    if command in ("help", "--help", "-h") and len(sys.argv) < 3:
        print(USAGE, flush=True)
    from local import alone

    if command in alone.COMMANDS and not {"-h", "--help"} & set(sys.argv):
        sys.exit(alone.main(sys.argv[1:]))
    django(sys.argv)


def django(arguments):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from local.home import Home

    home = Home.chosen()
    home.forget_what_no_longer_runs()
    try:
        execute_from_command_line(arguments)
    except OperationalError:
        if os.environ.get("DATABASE_URL") or home.is_running():
            raise
        sys.exit(
            "No database: DATABASE_URL is not set and no `manage.py up` runs with its home at %s"
            " (TOWPATH_HOME names another)." % home.path
        )


if __name__ == "__main__":
    main()
