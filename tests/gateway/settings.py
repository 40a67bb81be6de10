"""The project's settings with toy views behind a small gateway."""

import os

from config.settings import *  # noqa: F403
from config.settings import GATEWAY as _GATEWAY

ROOT_URLCONF = "tests.gateway.toys"
GATEWAY = {
    **_GATEWAY,
    # Small, so that a test can fill it.
    "hot_threads": int(os.environ.get("TOY_THREADS", "2")),
    "slow_threads": 2,
    "lane_queue": int(os.environ.get("TOY_QUEUE", "4")),
    "lane_seconds": float(os.environ.get("TOY_LANE_SECONDS", "60")),
    # Who is answered before its time was told: nothing else would make it look again.
    "poll_seconds": 3600.0,
    "hot_paths": (r"(GET|POST) /v1/hot/.*",),
    "stream_paths": (r"GET /v1/live",),
    "held_body_bytes": int(os.environ.get("TOY_BODIES", str(64 * 1024 * 1024))),
}
