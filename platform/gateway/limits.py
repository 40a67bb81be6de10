"""The gateway's limits and paths, from settings.GATEWAY, so that it needs to know no app."""

import re
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from gateway.remembered import remembered


@dataclass(frozen=True)
class Limits:
    max_body_bytes: int
    kept_body_bytes: int
    held_body_bytes: int
    body_seconds: float
    hot_threads: int
    slow_threads: int
    lane_queue: int
    lane_seconds: float
    join_seconds: float
    hot_answer_seconds: float
    slow_answer_seconds: float
    max_waiters: int
    max_streams: int
    poll_seconds: float
    proof_seconds: float
    send_seconds: float
    stop_seconds: float
    hot_lock_timeout_ms: int
    hot_paths: tuple[str, ...]
    stream_paths: tuple[str, ...]
    short_paths: tuple[str, ...]
    access_log: bool
    listen_url: str

    def is_hot(self, call_name: str) -> bool:
        return _matches(self.hot_paths, call_name)

    def is_joining(self, call_name: str) -> bool:
        return _matches(self.stream_paths, call_name)

    def answer_seconds(self, call_name: str) -> float:
        """How long a call may take before its client is told that nothing can be said; probes have no time for more."""
        if self.is_joining(call_name):
            return self.join_seconds + self.slow_answer_seconds
        brief = self.is_hot(call_name) or call_name == "GET /readyz"
        return self.hot_answer_seconds if brief else self.slow_answer_seconds

    @property
    def backpressure(self) -> int:
        """What granian lets in at once. At its own default of 1,024 as many waiters would silence /healthz too."""
        return self.max_waiters + self.max_streams + 2 * self.lane_queue + 256


def from_settings() -> Limits:
    return Limits(max_body_bytes=settings.TOWPATH["MAX_BODY_BYTES"], **settings.GATEWAY)


@remembered(2048)
def _matches(patterns: tuple[str, ...], call_name: str) -> bool:
    return _any(patterns).match(call_name) is not None


@cache
def _any(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Matches `METHOD /path` wholly."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) + r"\Z") if patterns else re.compile(r"(?!)")
