"""Forgetting what has served: dedup keys by whole days, never row by row; what was noted beside the log after a while."""

from datetime import timedelta

from django.db.models import Max
from django.db.models.functions import Now

from apps.topics.models import Import, Topic
from core import sql
from core.partitions import roll_table

FORGET_REPAIRS = sql.statement(__file__, "forget_repairs")

REPAIRS_DAYS = 90
IMPORTS_DAYS = 30
AT_ONCE = 5_000


def forget_keys() -> int:
    """Drops the days of keys that no topic's window reaches any more; answers how many partitions that changed."""
    longest = Topic.objects.aggregate(longest=Max("dedup_seconds"))["longest"] or 0
    return roll_table("dedup", longest // 86_400 + 1)


def forget_notes() -> int:
    """Repairs go, and stay counted; so do imports that have not moved for a month. Bounded; returns how many kinds and
    imports that touched."""
    repairs = len(sql.run((FORGET_REPAIRS, {"limit": AT_ONCE, "days": REPAIRS_DAYS}))[0])
    return repairs + Import.objects.filter(progressed_at__lt=Now() - timedelta(days=IMPORTS_DAYS)).delete()[0]
