"""What can go wrong, by meaning. core.http alone knows which HTTP status a family answers with."""

from typing import Any


class DomainError(Exception):
    """Something a client or operator can be told about. The docstring is the default message."""

    code = "ERROR"

    def __init__(self, message: str | None = None, *, retry_after: float | None = None, **details: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().split("\n")[0]
        self.retry_after = retry_after
        self.details = details
        super().__init__(self.message)


class Invalid(DomainError):
    """The request is not valid."""

    code = "INVALID_FIELD"


class InvalidJson(Invalid):
    """The body is not valid JSON."""

    code = "INVALID_JSON"


class InvalidField(Invalid):
    """A field of the body is not valid."""


class InvalidParameter(Invalid):
    """A parameter of the request is not valid."""

    code = "INVALID_PARAMETER"


class Unauthenticated(DomainError):
    """A valid bearer token is needed."""

    code = "UNAUTHENTICATED"


class Forbidden(DomainError):
    """The credential lacks the scope for this."""

    code = "FORBIDDEN"


class NotFound(DomainError):
    """There is no such thing."""

    code = "NOT_FOUND"


class MethodNotAllowed(DomainError):
    """This path does not answer that method."""

    code = "METHOD_NOT_ALLOWED"


class Conflict(DomainError):
    """The thing is not in a state that allows this."""

    code = "CONFLICT"


class NameTaken(Conflict):
    """Another one has this name."""

    code = "NAME_TAKEN"


class LeaseLost(Conflict):
    """The lease expired or was handed to someone else."""

    code = "LEASE_LOST"


class Gone(DomainError):
    """This is no longer there."""

    code = "GONE"


class CursorExpired(Gone):
    """What was asked for is older than what is kept."""

    code = "CURSOR_EXPIRED"


class TooLarge(DomainError):
    """The body is over the limit."""

    code = "TOO_LARGE"


class UnsupportedMediaType(DomainError):
    """This content type or encoding is not understood here."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class TooMany(DomainError):
    """Too much at once; try again later."""

    code = "TOO_MANY_REQUESTS"


class Unavailable(DomainError):
    """The service cannot do this right now; try again."""

    code = "UNAVAILABLE"


class Busy(Unavailable):
    """A lock or a thread could not be had in time; try again."""

    code = "BUSY"


class Uncertain(Unavailable):
    """Whether this was stored cannot be known; retry with the same keys."""

    code = "UNCERTAIN"
