"""Changes: consumers of either kind, and what consumer groups commit and are assigned."""

from apps.cursors.operations.consumers import (
    LOCK_CONSUMER,
    Filter,
    Limits,
    change,
    create_consumer,
    delete_consumer,
    disable,
    like,
    mark_skipped,
    pause,
    resume,
    tell_skipped,
)

__all__ = [
    "LOCK_CONSUMER",
    "Filter",
    "Limits",
    "change",
    "create_consumer",
    "delete_consumer",
    "disable",
    "like",
    "mark_skipped",
    "pause",
    "resume",
    "tell_skipped",
]
