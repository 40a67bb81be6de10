"""The one place where answers get their shape and errors their status, for views, the URL resolver and the gateway alike."""

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import orjson
import psycopg
from django.core.exceptions import DisallowedHost, ObjectDoesNotExist, RequestDataTooBig
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views import defaults
from rest_framework import exceptions as drf

from core import errors, sql
from core.ids import uuid7

STATUS: dict[type[errors.DomainError], int] = {
    errors.Invalid: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.TooLarge: 413,
    errors.UnsupportedMediaType: 415,
    errors.TooMany: 429,
    errors.Unavailable: 503,
}
RETRY_AFTER_SECONDS = 1.0  # where the error names no better time

REQUEST_ID_KEY = "towpath.request_id"
_SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}", re.ASCII)
_ENVELOPED = re.compile(r"/v1/(event-queues|schedules|events/[^/]+)(/|$)")

logger = logging.getLogger(__name__)


def status_of(error: errors.DomainError) -> int:
    """The status of the nearest family along the error's bases."""
    return next((STATUS[base] for base in type(error).__mro__ if base in STATUS), 500)


def is_enveloped(path: str) -> bool:
    """Queues and schedules answer `{"code", "message", "data"}`; everything else answers the thing itself."""
    return _ENVELOPED.match(path) is not None


def sane_request_id(offered: str | None) -> str:
    """The client's X-Request-Id if it is short and printable, else a new one."""
    return offered if offered and _SANE_REQUEST_ID.fullmatch(offered) else str(uuid7())


def request_id(request: HttpRequest) -> str:
    if REQUEST_ID_KEY not in request.META:
        request.META[REQUEST_ID_KEY] = sane_request_id(request.META.get("HTTP_X_REQUEST_ID"))
    return str(request.META[REQUEST_ID_KEY])


def answer(request: HttpRequest, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """JSON of `content` (structs too; bytes are taken as finished JSON), in the envelope where the path has one."""
    body = content if isinstance(content, bytes) else orjson.dumps(content, default=msgspec.to_builtins)
    if is_enveloped(request.path):
        body = b'{"code":0,"message":"ok","data":' + body + b"}"
    response = HttpResponse(body, status=status, content_type="application/json", headers=headers)
    response.headers["X-Request-Id"] = request_id(request)
    return response


def no_content(request: HttpRequest, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """204, or under an enveloped path 200 with `data: null`."""
    if is_enveloped(request.path):
        return answer(request, None, headers=headers)
    return HttpResponse(status=204, headers={"X-Request-Id": request_id(request), **(headers or {})})


def error_body(path: str, identifier: str, error: errors.DomainError) -> bytes:
    """The one shape of an error, for any path."""
    shape: dict[str, Any] = {
        "error": {"code": error.code, "message": error.message, "details": error.details},
        "requestId": identifier,
    }
    if is_enveloped(path):
        shape = {"code": status_of(error), "message": error.message, "data": None, **shape}
    return orjson.dumps(shape)


def error_headers(error: errors.DomainError) -> dict[str, str]:
    headers = {}
    if error.retry_after is not None or status_of(error) in (429, 503):
        headers["Retry-After"] = str(math.ceil(RETRY_AFTER_SECONDS if error.retry_after is None else error.retry_after))
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="towpath"'
    return headers


def error_response(request: HttpRequest, error: errors.DomainError) -> HttpResponse:
    identifier = request_id(request)
    return HttpResponse(
        error_body(request.path, identifier, error),
        status=status_of(error),
        content_type="application/json",
        headers={"X-Request-Id": identifier, **error_headers(error)},
    )


def problem_response(error: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """DRF's EXCEPTION_HANDLER: None (a 500, logged by Django) only for what no input should be able to cause."""
    domain_error = as_domain_error(error)
    if domain_error is None:
        return None
    # DRF itself adds Allow to whatever its views answer.
    return error_response(context["request"], domain_error)


def _deleted_meanwhile(error: Exception) -> errors.NotFound:
    """What this call looked up was deleted before it could lock it. Logged, for a mistake of ours would look the same."""
    logger.warning("http.deleted_meanwhile", exc_info=error)
    return errors.NotFound()


def as_domain_error(error: Exception) -> errors.DomainError | None:
    match error:
        case errors.DomainError():
            return error
        case drf.MethodNotAllowed():
            return errors.MethodNotAllowed()
        case Http404():
            return errors.NotFound()
        case DisallowedHost():
            return errors.Invalid(
                "The service is not known under this name; ALLOWED_HOSTS says which ones it has.", field="Host"
            )
        case RequestDataTooBig():
            return errors.TooLarge()
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return errors.Unauthenticated()
        case drf.PermissionDenied():
            return errors.Forbidden()
        case drf.APIException():
            return errors.Invalid("The request is not valid.")
        case ObjectDoesNotExist():
            return _deleted_meanwhile(error)
        case IntegrityError() if isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
            return _deleted_meanwhile(error)
        case DataError():
            # Validation lets nothing through that the database refuses; this keeps a hole in it from being a 500.
            logger.error("http.data_error", exc_info=error)
            return errors.InvalidField("A value cannot be stored.")
        case OperationalError() | InterfaceError() | DatabaseError():
            return _unavailable(error)
    return None


_BUSY = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
)
# Its SQLSTATE puts it among faults of the server's own, but it is a primary that has become a standby.
_READ_ONLY = psycopg.errors.ReadOnlySqlTransaction


def _unavailable(error: DatabaseError | InterfaceError) -> errors.DomainError | None:
    if isinstance(error.__cause__, _BUSY):
        return errors.Busy()
    sql.leave_read_only(error)
    if isinstance(error, OperationalError | InterfaceError) or isinstance(error.__cause__, _READ_ONLY):
        logger.error("http.database_unavailable", exc_info=error)
        return errors.Unavailable("The database cannot be reached; try again.")
    return None


class InternalError(errors.DomainError):
    """Something went wrong here. It has been logged under this requestId."""

    code = "INTERNAL"


class AlwaysJson:
    """DRF's content negotiation: there is nothing to negotiate, whatever Accept says."""

    def select_parser(self, request: HttpRequest, parsers: Sequence[Any]) -> None:
        return None

    def select_renderer(
        self, request: HttpRequest, renderers: Sequence[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


def say_allowed(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: DRF says Allow in every answer and counts OPTIONS in, which no view has. Here 405 alone says it."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if "Allow" in response.headers:
            allowed = response.headers["Allow"].split(", ")
            del response.headers["Allow"]
            if response.status_code == 405:
                response.headers["Allow"] = ", ".join(method for method in allowed if method != "OPTIONS")
        return response

    return respond


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if _is_for_people(request):
        return defaults.page_not_found(request, exception)
    return error_response(request, errors.NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    if _is_for_people(request):
        return defaults.server_error(request)
    return error_response(request, InternalError())


def _is_for_people(request: HttpRequest) -> bool:
    return request.path.startswith("/admin/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    error = as_domain_error(exception) or errors.Invalid("The request is not valid.")
    return error_response(request, error)
