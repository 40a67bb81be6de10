"""What beat sends and how often. Each task expires with its interval: one that came too late is dropped, not piled up."""

from typing import Any


def every(seconds: int, task: str) -> dict[str, Any]:
    return {"task": task, "schedule": float(seconds), "options": {"expires": seconds}}


SCHEDULE: dict[str, dict[str, Any]] = {
    "queues: fire schedules": every(30, "queues.fire_schedules"),
    "queues: park what has no attempt left": every(10, "queues.expire"),
    "queues: sample": every(15, "queues.sample"),
    "queues: repair group keys": every(60, "queues.repair_groups"),
    "queues: forget": every(30, "queues.forget"),
}
