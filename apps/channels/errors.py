"""What channels can refuse beyond the common families."""

from core import errors


class AccessRevoked(errors.Forbidden):
    """The grant for this channel has been revoked."""

    code = "ACCESS_REVOKED"
