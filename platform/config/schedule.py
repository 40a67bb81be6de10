"""What beat sends and how often. Each task expires with its interval: one that came too late is dropped, not piled up."""

from typing import Any


def every(seconds: int, task: str) -> dict[str, Any]:
    return {"task": task, "schedule": float(seconds), "options": {"expires": seconds}}


SCHEDULE: dict[str, dict[str, Any]] = {
    "sweep deleted topics": every(60, "topics.sweep_deleted"),
}
