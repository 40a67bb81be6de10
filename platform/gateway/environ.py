"""From an ASGI scope to the environ that Django's WSGI handler reads. Nothing a client sends raises here."""

import io
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from core.paths import SENT_KEY

# Headers that came more than once: joined by commas they could not be told from one that holds a comma.
REPEATED_KEY = "towpath.repeated"
# Headers of an event that are not passed on, having an underscore: they are refused by name, not lost.
UNDERSCORED_KEY = "towpath.underscored"

Headers = Iterable[tuple[bytes, bytes]]
Environ = dict[str, Any]


@lru_cache(maxsize=1024)
def variable(name: bytes) -> str:
    """The CGI name of a header; empty for one with an underscore, which could pose as its twin with a dash."""
    if b"_" in name:
        return ""
    text = name.decode("latin-1").upper().replace("-", "_")
    return text if text in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{text}"


def build(scope: dict[str, Any], body: bytes) -> Environ:
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": path_of(scope),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or 80),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        _add(environ, variable(name), value.decode("latin-1"))
        if b"_" in name and name.lower().startswith(b"ce-"):
            environ.setdefault(UNDERSCORED_KEY, set()).add(name.decode("latin-1").lower())
    raw: bytes = scope.get("raw_path") or b""
    if b"%" in raw or not raw.isascii():
        environ[SENT_KEY] = raw.decode("latin-1")
    put_body(environ, body)  # after the headers: what was read counts, not what was announced
    return environ


def put_body(environ: Environ, body: bytes) -> None:
    environ["CONTENT_LENGTH"] = str(len(body))
    environ["wsgi.input"] = io.BytesIO(body)


def path_of(scope: dict[str, Any]) -> str:
    """The path as WSGI wants it: percent-decoded bytes, read as latin-1, also when they are not UTF-8."""
    raw: bytes | None = scope.get("raw_path")
    path = unquote_to_bytes(raw.partition(b"?")[0]) if raw else scope["path"].encode("utf-8", "surrogateescape")
    return path.decode("latin-1")


def _add(environ: Environ, name: str, value: str) -> None:
    if not name:
        return
    if name in environ and name.startswith("HTTP_"):
        environ.setdefault(REPEATED_KEY, set()).add(name)
        value = f"{environ[name]}{'; ' if name == 'HTTP_COOKIE' else ','}{value}"
    environ[name] = value


def header(headers: Headers, wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in headers if name == wanted), None)
