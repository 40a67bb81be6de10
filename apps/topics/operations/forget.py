"""Forgetting dedup keys: by whole days, never row by row."""

from django.db.models import Max

from apps.topics.models import Topic
from core.partitions import roll_table


def forget_keys() -> int:
    """Drops the days of keys that no topic's window reaches any more; answers how many partitions that changed."""
    longest = Topic.objects.aggregate(longest=Max("dedup_seconds"))["longest"] or 0
    return roll_table("dedup", longest // 86_400 + 1)
