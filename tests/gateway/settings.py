"""The project's settings with toy views behind a small gateway."""

from config.settings import *  # noqa: F403
from config.settings import GATEWAY as _GATEWAY

ROOT_URLCONF = "tests.gateway.toys"
GATEWAY = {
    **_GATEWAY,
    "hot_threads": 2,
    "slow_threads": 2,
    "lane_queue": 4,
    "lane_seconds": 0.5,
    "hot_paths": (r"(GET|POST) /v1/hot/.*",),
    "waiting_paths": (r"POST /v1/hot/(take|guarded)",),
}
