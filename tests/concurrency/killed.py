"""A process that takes the steps of an operation, tells when it has reached one, and is killed there."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from django.db import connection

# What `reached(step)` is to the script; after the named one the process tells, and waits to be killed.
REACHED = """
import sys, time
import django; django.setup()

def reached(step):
    if step == sys.argv[1]:
        print("reached", flush=True)
        time.sleep(600)
"""


def killed_after(script: str, step: str, *arguments: object, folder: Path) -> None:
    """Runs the script on the test's database and the store in `folder` until it has reached the step."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = {**os.environ, "DATABASE_URL": url, "TOWPATH_COLD_URL": f"file://{folder}", "PYTHONPATH": "platform:."}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    command = [sys.executable, "-c", REACHED + script, step, *map(str, arguments)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "reached\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        process.stdout.close()
