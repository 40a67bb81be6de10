"""What an answer means: delivered, to be tried again and when, or never again. Pure."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from apps.destinations.webhooks.client import Reply

FIRST_SECONDS, MOST_SECONDS = 5.0, 3_600.0
MOST_RETRY_AFTER = 86_400.0


@dataclass(frozen=True)
class Verdict:
    delivered: bool
    error: str = ""
    gone: bool = False
    wait: float | None = None
    """Seconds that the endpoint itself asked for: for all that goes to it, not only for this event."""


def verdict(reply: Reply) -> Verdict:
    if reply.status is None:
        return Verdict(False, reply.error or "no answer")
    if 200 <= reply.status < 300:
        return Verdict(True)
    said = f"answered {reply.status}"
    if 300 <= reply.status < 400:
        said += ": redirects are not followed"
    return Verdict(False, said, reply.status == 410, _seconds(reply.retry_after))


def back_off(attempt: int) -> float:
    """Seconds before the next attempt: 5 doubling to an hour, with jitter so that many do not come back at once."""
    most: float = min(MOST_SECONDS, FIRST_SECONDS * 2 ** min(attempt - 1, 20))
    return most * random.uniform(0.5, 1.0)


def _seconds(retry_after: str | None) -> float | None:
    """Seconds or a date, at most a day; anything else is as if it had not been said."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 10:
        return min(float(retry_after), MOST_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max(0.0, (until - datetime.now(UTC)).total_seconds()), MOST_RETRY_AFTER)
