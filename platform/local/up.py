"""`manage.py up`: the whole platform on this machine, until Ctrl-C."""

import argparse
import errno
import os
import resource
import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from local import leftovers, ports
from local.bootstrap import ROOT
from local.home import Home
from local.logs import last_words
from local.postgres import NotStarted, Postgres
from local.supervisor import TICK_SECONDS, Part, Supervisor, say

WILDCARDS = {"0.0.0.0", "::", ""}
IMPATIENT_SECONDS = 30.0


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    home = Home.chosen(options.home)
    port = _take(home, options.host, options.port)
    home.forget()
    postgres = None if os.environ.get("DATABASE_URL") else Postgres(home)
    supervisor = Supervisor(home, {}, _parts(options.host, port), postgres)
    supervisor.catch_signals()
    try:
        _start(supervisor, options.host, port)
        _serve(supervisor, options.host, port)
    except NotStarted as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        say("stopping …")
    finally:
        supervisor.stop()
        leftovers.end(leftovers.started_by(home.path))
    say("stopped")
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="manage.py up", description="Runs Towpath on this machine until Ctrl-C.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000; 0 takes a free one)")
    parser.add_argument("--home", help="where everything is kept (TOWPATH_HOME, else .towpath)")
    return parser.parse_args(arguments)


def _parts(host: str, port: int) -> list[Part]:
    """In the order in which they are stopped."""
    worker = "-A config worker --pool threads --concurrency 4 --without-gossip --without-mingle"
    return [
        Part("server", "gateway.server", ["--host", host, "--port", str(port)], grace=10),
        Part("beat", "celery", "-A config beat --pidfile=".split(), grace=5),
        Part("forward", "django", ["forward"], grace=10),
        Part("worker", "celery", worker.split(), grace=10),
    ]


def _take(home: Home, host: str, port: int) -> int:
    """The port and the home, or a sentence that says who has them. What a killed `up` of this home left is ended."""
    try:
        port, taken = ports.claim(host, port), None
    except OSError as error:
        taken = error
    home.make()
    if not home.lock():
        sys.exit(f"Towpath already runs with the home {home.path}.")
    if left := leftovers.started_by(home.path):
        say(f"ending {len(left)} processes left over from an earlier run …")
        leftovers.end(left)
        leftovers.gone(lambda: leftovers.started_by(home.path), seconds=5)
    if taken is None:
        return port
    try:
        return ports.claim(host, port)
    except OSError as error:
        sys.exit(_why_not(error, host, port))


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken by {ports.holder(port)}: end that, or choose another with --port."
    return f"Cannot listen on {host} port {port}: {error.strerror}."


def _start(supervisor: Supervisor, host: str, port: int) -> None:
    home, postgres = supervisor.home, supervisor.postgres
    # Thousands of waits and streams are thousands of open files; the children inherit the limit.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if postgres is not None:
        postgres.prepare()
    say("starting the database …" if postgres else "using the database that DATABASE_URL names …")
    supervisor.start_database()
    runtime = _runtime(home, postgres, port)
    supervisor.environment.update(os.environ | runtime | surroundings(home, host))
    preparation = Part("prepare", "django", ["prepare", "--first-run"], grace=0)
    if not supervisor.run(preparation):
        sys.exit("\n".join([*last_words(home / "logs/prepare.log", 15), "The database could not be prepared."]))
    home.remember(runtime)


def _runtime(home: Home, postgres: Postgres | None, port: int) -> dict[str, str]:
    broker = os.environ.get("CELERY_BROKER_URL")
    return {
        "DATABASE_URL": postgres.url if postgres else os.environ["DATABASE_URL"],
        "SECRET_KEY": home.secret_key(),
        "TOWPATH_PORT": str(port),
        **({"CELERY_BROKER_URL": broker} if broker else {}),
    }


def surroundings(home: Home, host: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "platform"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": path,
        "PYTHONUNBUFFERED": "1",
        "TOWPATH_HOME": str(home.path),
        "ALLOWED_HOSTS": os.environ.get("ALLOWED_HOSTS") or ",".join(_names(host)),
        leftovers.MARK: str(home.path),
    }


def _names(host: str) -> list[str]:
    """What a browser may call us: for a wildcard address, every name and address of this machine."""
    names = {"localhost", "127.0.0.1", "[::1]"}
    if host not in WILDCARDS:
        return sorted(names | {f"[{host}]" if ":" in host else host})
    names |= {socket.gethostname(), socket.getfqdn()}
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        found = set()
    return sorted(names | {f"[{address}]" if ":" in address else address for address in found})


def _serve(supervisor: Supervisor, host: str, port: int) -> None:
    shown = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    began, ready, impatient = time.monotonic(), False, False
    while True:
        supervisor.watch()
        time.sleep(TICK_SECONDS)
        if ready:
            continue
        ready, answer = _is_ready(f"http://{shown}:{port}/readyz")
        if ready:
            _announce(supervisor.home, f"http://{shown}:{port}")
        elif not impatient and time.monotonic() - began > IMPATIENT_SECONDS:
            impatient = True
            say(f"not ready yet: {answer}; the logs are in {supervisor.home / 'logs'}")


def _is_ready(url: str) -> tuple[bool, str]:
    request = urllib.request.Request(url, headers={"Host": "localhost"})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=5) as answer:
            return True, str(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code == 404, error.read(2000).decode(errors="replace").strip()
    except OSError as error:
        return False, str(error)


def _announce(home: Home, url: str) -> None:
    password, key, logs = (_shown(home / name) for name in ("admin-password", "api-key", "logs"))
    print(
        f"Towpath is ready: {url}/admin/ (user admin, password in {password}; API key in {key}; logs in {logs})", flush=True
    )


def _shown(path: Path) -> str:
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
