"""One setup of logs for server, worker and beat: lines of JSON (or readable in a terminal), each with the request's id."""

import logging
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import orjson
import structlog

REQUEST_ID: ContextVar[str] = ContextVar("towpath_request_id", default="")
# A view's authentication may leave the principal's printable name here for the access log: never a token.
PRINCIPAL_KEY = "towpath.principal"
_SECRET_KEYS = frozenset({"authorization", "token", "grant", "password", "secret", "cookie"})

Event = MutableMapping[str, Any]


def add_request_id(logger: Any, method: str, event: Event) -> Event:
    identifier = REQUEST_ID.get()
    if identifier:
        event.setdefault("request_id", identifier)
    return event


def hide_secrets(logger: Any, method: str, event: Event) -> Event:
    """A net below the rule that secrets are not logged at all."""
    for key in _SECRET_KEYS.intersection(event):
        event[key] = "(hidden)"
    return event


def as_json(logger: Any, method: str, event: Event) -> str:
    return orjson.dumps(dict(event), default=repr, option=orjson.OPT_NON_STR_KEYS).decode()


_SHARED: list[Any] = [
    add_request_id,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    hide_secrets,
]


def logging_settings(level: str, readable: bool) -> dict[str, Any]:
    """Django's LOGGING: the standard library's loggers (ours, Django's, Celery's) all end in one formatter."""
    ending = [_console()] if readable else [structlog.processors.format_exc_info, as_json]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "stream": sys.stderr, "formatter": "lines"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # One warning for each 4xx says less than the access log does.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
        },
    }


def access_logger(readable: bool) -> Any:
    """The log of requests. It does not pass through the standard library: at thousands of lines a second that costs most."""
    ending = _console() if readable else _as_json_bytes
    factory = structlog.PrintLoggerFactory(sys.stderr) if readable else structlog.BytesLoggerFactory(sys.stderr.buffer)
    return structlog.wrap_logger(
        factory(),
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.add_log_level,
            ending,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    ).bind()


def _console() -> Any:
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), timestamp_key="time")


def _as_json_bytes(logger: Any, method: str, event: Event) -> bytes:
    return orjson.dumps(event, default=repr)
