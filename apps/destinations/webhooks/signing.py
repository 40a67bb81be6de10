"""Standard Webhooks: each request is signed with every secret in force, so that a receiver may change over a day."""

import base64
import binascii
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from standardwebhooks import Webhook

from core.errors import InvalidField

PREFIX = "whsec_"
LEAST_BYTES, MOST_BYTES = 24, 64


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def check_secret(secret: str, field: str) -> str:
    """The secret itself. Raises InvalidField; the text of the secret is in no message."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not LEAST_BYTES <= len(key) <= MOST_BYTES:
        raise InvalidField(f"{PREFIX} and the base64 of {LEAST_BYTES} to {MOST_BYTES} bytes.", field=field)
    return secret


def signed(webhook_id: str, body: str, keys: Sequence[str]) -> dict[str, str]:
    """The three headers of the specification."""
    now = datetime.now(UTC).replace(microsecond=0)
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(key).sign(webhook_id, now, body) for key in keys),
    }
