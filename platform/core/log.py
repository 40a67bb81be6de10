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
    """A net below the rule that secrets are not logged at all. Django adds the request, whose text has the whole query."""
    event.pop("request", None)
    for key in _SECRET_KEYS.intersection(event):
        event[key] = "(hidden)"
    return event


def as_json(logger: Any, method: str, event: Event) -> str:
    return orjson.dumps(dict(event), default=repr, option=orjson.OPT_NON_STR_KEYS).decode()


class OnlyFaults(logging.Filter):
    """Of what Django says of answers only a 500 is news: a 503 was told where it was made, a 4xx is in the access log."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", 500) == 500


class Seldom(logging.Filter):
    """Each message once in five seconds: an outage is one fact, however many requests meet it."""

    def __init__(self, messages: tuple[str, ...]) -> None:
        super().__init__()
        self._next = dict.fromkeys(messages, 0.0)

    def filter(self, record: logging.LogRecord) -> bool:
        message = str(record.msg)
        if message not in self._next:
            return True
        due = record.created >= self._next[message]
        if due:
            self._next[message] = record.created + 5
        return due


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
        "filters": {
            "only_faults": {"()": OnlyFaults},
            "seldom": {"()": Seldom, "messages": ("http.database_unavailable",)},
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "stream": sys.stderr, "formatter": "lines"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django.request": {"level": "ERROR", "filters": ["only_faults"]},
            "core.http": {"filters": ["seldom"]},
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
