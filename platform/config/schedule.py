"""What beat sends and how often. Each task expires with its interval: one that came too late is dropped, not piled up."""

from typing import Any


def every(seconds: int, task: str) -> dict[str, Any]:
    return {"task": task, "schedule": float(seconds), "options": {"expires": seconds}}


SCHEDULE: dict[str, dict[str, Any]] = {
    "fire schedules": every(30, "queues.fire_schedules"),
    "park queue events without an attempt left": every(10, "queues.expire"),
    "sample queues": every(15, "queues.sample"),
    "repair group keys of queues": every(60, "queues.repair_groups"),
    "forget purged and expired things of queues": every(30, "queues.forget"),
    "prove beat, broker and worker": every(10, "console.prove_beat"),
    "sweep deleted topics": every(60, "topics.sweep_deleted"),
    "forget repairs and imports of logs": every(3600, "topics.forget_notes"),
    "forget what retention took long ago": every(3600, "leases.forget_skipped"),
    "forget old audit records and what has expired": every(3600, "access.forget"),
    "forget dedup keys": every(3600, "topics.forget_keys"),
    "move old events to cold storage": every(60, "topics.sweep"),
    "compare logs with cold storage": every(300, "topics.reconcile"),
    "merge small segments of cold storage": every(300, "topics.merge"),
    "let go of cold events": every(60, "leases.retain"),
    "expire leases": every(5, "leases.expire"),
    "forget redriven dead letters": every(3600, "leases.forget_redriven"),
    "sample lag": every(15, "destinations.sample"),
    "thin lag samples and forget workers": every(600, "destinations.thin"),
    "forget events of channels": every(30, "channels.forget_events"),
    "forget logs and grants of channels": every(600, "channels.forget_rest"),
    "sample the overview": every(15, "console.sample"),
    "work off bulk operations": every(5, "console.advance_bulk"),
    "forget items of old bulk operations": every(3600, "console.forget_bulk_items"),
    "make and drop day partitions": every(3600, "console.roll_partitions"),
}
