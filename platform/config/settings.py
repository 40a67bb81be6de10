"""Every setting, from the environment. `manage.py up` needs none; docs/production.md lists what a deployment sets."""

import json
import os
import secrets
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict

from core.log import logging_settings
from core.secret_key import MADE_UP

BASE_DIR = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("TOWPATH_HOME", BASE_DIR / ".towpath")).resolve()


def _runtime() -> dict[str, str]:
    """What a running `manage.py up` of this home wrote down, so that other commands find its database and broker."""
    try:
        return dict(json.loads((HOME / "runtime.json").read_text()))
    except (OSError, ValueError):
        return {}


_RUNTIME = _runtime()


def _setting(name: str, default: str = "") -> str:
    return os.environ.get(name) or _RUNTIME.get(name) or default


def _flag(name: str, default: bool) -> bool:
    return _setting(name, "1" if default else "0").lower() in ("1", "true", "yes", "on")


def _list(name: str, default: str) -> list[str]:
    return [item.strip() for item in _setting(name, default).split(",") if item.strip()]


DEBUG = False
# One made up here is no other process's: enough for a command, and refused by whatever serves (core.secret_key).
SECRET_KEY = _setting("SECRET_KEY") or MADE_UP + secrets.token_urlsafe(50)
ALLOWED_HOSTS = _list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _list("CSRF_TRUSTED_ORIGINS", "")

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "config.admin.TowpathAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "django_filters",
    "oauth2_provider",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "apps.access",
    "apps.topics",
    "apps.cursors",
    "apps.leases",
    "apps.queues",
    "apps.channels",
    "apps.destinations",
    "apps.console",
]

MIDDLEWARE = [
    "core.paths.refuse_unnameable",
    "core.http.say_allowed",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "apps.console.middleware.ConsoleMiddleware",
]

# Requests of programs carry their credential with them: no session, no form token, no messages, no page.
API_MIDDLEWARE = [
    "core.paths.refuse_unnameable",
    "core.http.say_allowed",
    "core.doors.ApiDoor",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]


def _database(url: str) -> dict[str, Any]:
    parts = conninfo_to_dict(url)
    known = {name: str(parts.pop(name, "") or "") for name in ("dbname", "user", "password", "host", "port")}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": known["dbname"],
        "USER": known["user"],
        "PASSWORD": known["password"],
        "HOST": known["host"],
        "PORT": known["port"],
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "connect_timeout": 5,
            # A peer that is silently gone must not hold a thread for the quarter of an hour that the system would wait.
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": 40_000,
            "application_name": _setting("TOWPATH_PROCESS", "towpath"),
            "options": "-c jit=off -c plan_cache_mode=force_generic_plan -c lock_timeout=5s"
            " -c statement_timeout=30s -c idle_in_transaction_session_timeout=10s",
            **parts,
        },
    }


DATABASES = {"default": _database(_setting("DATABASE_URL", "postgresql://127.0.0.1:5432/towpath"))}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
USE_I18N = False

STATIC_URL = "/static/"
# Static files are served by the process itself, from where they are installed; a folder is only for `collectstatic`.
STATIC_ROOT = _setting("TOWPATH_STATIC_ROOT") or None
WHITENOISE_USE_FINDERS = True

PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher", "apps.access.hashers.RandomSecretHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "admin:login"

# Behind TLS (docs/production.md) both are on; `manage.py up` serves plain HTTP on the loopback interface.
_TLS = _flag("TOWPATH_TLS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _TLS
SECURE_HSTS_SECONDS = 31_536_000 if _TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _TLS else None
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
X_FRAME_OPTIONS = "DENY"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.access.api.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.access.api.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.http.AlwaysJson",
    # None: OPTIONS is a method like any other that a view does not have.
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "core.openapi.Schema",
    "EXCEPTION_HANDLER": "core.http.problem_response",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}

SCOPES = [f"{verb}:{area}" for area in ("events", "queues", "channels") for verb in ("read", "write", "manage")]

# By the first part of a path: what /docs puts under one heading.
API_SECTIONS = {
    "topics": "Topics and consumer groups",
    "event-destinations": "Destinations",
    "event-queues": "Queues and their events",
    "events": "Queues and their events",
    "schedules": "Schedules",
    "streams": "Channels",
    "channel-kinds": "Channels",
    "grants": "Grants for channels",
    "bulk-operations": "Bulk operations",
    "audit": "Tokens and the audit trail",
    "oauth": "Tokens and the audit trail",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Towpath",
    "VERSION": "1.0.0",
    "DESCRIPTION": "Durable consumers, queues, channels and a replayable log.",
    "SERVE_INCLUDE_SCHEMA": False,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/v1",
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    # The default hook names the enums of serializers; those of msgspec's Literals carry no type and need no name.
    "POSTPROCESSING_HOOKS": [],
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key (`tpk_…`) or an OAuth 2 access token.",
            },
            "oauth2": {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": "/oauth/token", "scopes": {scope: scope for scope in SCOPES}}},
            },
        }
    },
}

OAUTH2_PROVIDER_APPLICATION_MODEL = "oauth2_provider.Application"
OAUTH2_PROVIDER = {
    "SCOPES_BACKEND_CLASS": "apps.access.oauth.ApplicationScopes",
    # Client credentials and nothing else.
    "CLIENT_SECRET_HASHER": "random_secret",
    "OAUTH2_SERVER_CLASS": "oauthlib.oauth2.BackendApplicationServer",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    # Only the checksum of a token is stored.
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    # `check --deploy` asks for the rest of RFC 9700; none of it is reached by client credentials alone.
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_SCHEME": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
}

# Celery: only beat's sweeps travel through it (docs/decisions). The default broker is a folder in HOME.
CELERY_BROKER_URL = _setting("CELERY_BROKER_URL", "filesystem://")
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "data_folder_in": str(HOME / "broker" / "queue"),
        "data_folder_out": str(HOME / "broker" / "queue"),
        "processed_folder": str(HOME / "broker" / "processed"),
        "control_folder": str(HOME / "broker" / "control"),
        "store_processed": False,
    }
    if CELERY_BROKER_URL.startswith("filesystem:")
    else {}
)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = _setting("TOWPATH_CELERY_QUEUE", "towpath")
CELERY_TIMEZONE = "UTC"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"

# Limits and habits of this installation; contract values are the defaults.
TOWPATH: dict[str, Any] = {
    "MAX_BODY_BYTES": int(_setting("TOWPATH_MAX_BODY_BYTES", str(4 * 1024 * 1024))),
    "MAX_EVENT_BYTES": int(_setting("TOWPATH_MAX_EVENT_BYTES", str(256 * 1024))),
    # A larger one is stored and replayed as any other; live, a pointer goes in its place.
    "MAX_LIVE_EVENT_BYTES": int(_setting("TOWPATH_MAX_LIVE_EVENT_BYTES", str(32 * 1024))),
    "MAX_BATCH_EVENTS": int(_setting("TOWPATH_MAX_BATCH_EVENTS", "1000")),
    "MAX_JSON_DEPTH": 64,
    # A queue that holds so many (by its last sample, which counts up to 100,000) takes nothing more from destinations.
    "FULL_QUEUE_EVENTS": int(_setting("TOWPATH_FULL_QUEUE_EVENTS", "100000")),
    # Where segments go: file://, s3://, gs://, az:// …, with the credentials that obstore finds in the environment.
    "COLD_URL": _setting("TOWPATH_COLD_URL", f"file://{HOME / 'cold'}"),
    # Members of payloads whose values the admin shows to nobody, as `password,token`; clients get them as they are.
    "MASKED_FIELDS": frozenset(name.lower() for name in _list("TOWPATH_MASKED_FIELDS", "")),
    # For how long the audit trail is kept.
    "AUDIT_DAYS": int(_setting("TOWPATH_AUDIT_DAYS", "400")),
    "CREATE_TOPICS_ON_USE": _flag("TOWPATH_CREATE_TOPICS_ON_USE", True),
}

# Tables in partitions of a day, and for how many days each is kept (core.partitions makes 30 days ahead and drops old ones).
# channel_log: the longest that a kind of channel can ask for (90 days), and the day that is not over.
# dedup: the longest window a topic can have. settled: the contract's two days, and the day that is not over.
DAY_PARTITIONS = {
    "dedup": 31,
    "settled": 3,
    "queue_settled": 3,
    "lag_sample": 30,
    "queue_sample": 30,
    "channel_log": 91,
    "webhook_attempt": 7,
}

DATA_UPLOAD_MAX_MEMORY_SIZE = TOWPATH["MAX_BODY_BYTES"]

UNFOLD = {
    "SITE_TITLE": "Towpath",
    "SITE_HEADER": "Towpath",
    "SITE_SYMBOL": "water",
    "SITE_URL": None,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": "/static/console/icon.svg"}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "STYLES": ["/static/console/console.css"],
    "SCRIPTS": ["/static/console/console.js"],
    "SIDEBAR": {"navigation": "apps.console.navigation.sections"},
    "COLORS": {
        "primary": {
            "50": "oklch(98.4% .014 180.72)",
            "100": "oklch(95.3% .051 180.801)",
            "200": "oklch(91% .096 180.426)",
            "300": "oklch(85.5% .138 181.071)",
            "400": "oklch(77.7% .152 181.912)",
            "500": "oklch(70.4% .14 182.503)",
            "600": "oklch(51.1% .096 186.391)",
            "700": "oklch(43.7% .078 188.216)",
            "800": "oklch(38.6% .063 188.416)",
            "900": "oklch(34.6% .052 188.5)",
            "950": "oklch(27.7% .046 192.524)",
        },
    },
}

# The HTTP front (platform/gateway), which knows no app: its limits, and which paths are what.
GATEWAY: dict[str, Any] = {
    "hot_threads": int(_setting("TOWPATH_HOT_THREADS", "12")),
    "slow_threads": int(_setting("TOWPATH_SLOW_THREADS", "4")),
    "lane_queue": int(_setting("TOWPATH_LANE_QUEUE", "1024")),
    "lane_seconds": float(_setting("TOWPATH_LANE_SECONDS", "2")),
    # A browser does not come back to a live stream that was refused: it may stand in line for longer.
    "join_seconds": float(_setting("TOWPATH_JOIN_SECONDS", "15")),
    # A database that neither answers nor hangs up holds a thread for as long; its client is answered after these seconds.
    "hot_answer_seconds": float(_setting("TOWPATH_HOT_ANSWER_SECONDS", "10")),
    "slow_answer_seconds": float(_setting("TOWPATH_SLOW_ANSWER_SECONDS", "35")),
    "max_waiters": int(_setting("TOWPATH_MAX_WAITERS", "4096")),
    "max_streams": int(_setting("TOWPATH_MAX_STREAMS", "4096")),
    # Of bodies on their way to a thread, in one process; the first kept_body_bytes of each do not count.
    "held_body_bytes": int(_setting("TOWPATH_HELD_BODY_BYTES", str(256 * 1024 * 1024))),
    # What a request that waits may hold of its body.
    "kept_body_bytes": 16 * 1024,
    "body_seconds": 60.0,
    "poll_seconds": float(_setting("TOWPATH_POLL_SECONDS", "10")),
    "proof_seconds": float(_setting("TOWPATH_PROOF_SECONDS", "5")),
    "send_seconds": float(_setting("TOWPATH_SEND_SECONDS", "15")),
    "stop_seconds": float(_setting("TOWPATH_STOP_SECONDS", "5")),
    "hot_lock_timeout_ms": 1000,
    # `METHOD /path`: the short, frequent calls that must not queue behind lists, pages and cold reads.
    "hot_paths": (
        r"POST /v1/topics/[^/]+/(records|events)",
        r"GET /v1/topics/[^/]+/(partitions/\d+/)?consume",
        r"POST /v1/topics/[^/]+/partitions/\d+/commit",
        r"POST /v1/topics/[^/]+/groups/[^/]+/assignments",
        r"POST /v1/event-destinations/[^/]+/(pull|acknowledge|extend)",
        r"POST /v1/event-queues/[^/]+/(events|claim)",
        r"POST /v1/events/[^/]+/(heartbeat|ack|nack)",
        r"POST /v1/streams/([^/]+/)?(events|logs)",
        r"GET /v1/streams/[^/]+/(snapshot|events|live)",
    ),
    "stream_paths": (r"GET /v1/streams/[^/]+/live",),
    # Served with API_MIDDLEWARE.
    "short_paths": ("/v1/", "/oauth/", "/readyz", "/metrics"),
    "access_log": _flag("TOWPATH_ACCESS_LOG", True),
    # Where LISTEN goes when DATABASE_URL leads through a pooler that has no sessions.
    "listen_url": _setting("TOWPATH_LISTEN_URL"),
}

# Networks beside the public internet that webhooks may reach: none, unless the installation says so.
WEBHOOK_ALLOWED_NETWORKS = [ip_network(network) for network in _list("TOWPATH_WEBHOOK_ALLOWED_NETWORKS", "")]

# From where /metrics is read without a token: names of topics stand in it. A request through a proxy always needs one.
METRICS_NETWORKS = [ip_network(network) for network in _list("TOWPATH_METRICS_NETWORKS", "127.0.0.0/8,::1/128")]

READABLE_LOG = _setting("TOWPATH_LOG_FORMAT", "text" if sys.stderr.isatty() else "json") == "text"
LOGGING = logging_settings(_setting("TOWPATH_LOG_LEVEL", "INFO"), READABLE_LOG)
