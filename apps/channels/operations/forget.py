"""What the sweeps remove: channel by channel, in batches; a distributed PostgreSQL locks rows of one at a time only."""

from datetime import timedelta

from django.db.models.functions import Now

from apps.channels.models import Channel, ChannelGrant
from core import sql

OVERDUE = sql.statement(__file__, "overdue")
FORGET = sql.statement(__file__, "forget")
FORGET_LOGS = sql.statement(__file__, "forget_logs")
FORGET_LIVE = sql.statement(__file__, "forget_live")

BATCH = 1_000
PAGE = 1_000
BATCHES = 100  # of one channel in one sweep: the others want their turn
GRANTS_KEPT = timedelta(days=1)


def forget_events() -> int:
    """Applies the retention of every kind; returns how many events it removed."""
    removed, after = 0, 0
    while rows := sql.run((OVERDUE, {"after": after, "limit": PAGE}))[0]:
        removed += sum(_forget(channel) for channel, is_overdue in rows if is_overdue)
        after = rows[-1][0]
    return removed


def _forget(channel: int) -> int:
    removed = 0
    for _ in range(BATCHES):
        found: int = sql.run((FORGET, {"channel": channel, "batch": BATCH}))[0][0][0]
        removed += found
        if found < BATCH:
            break
    return removed


def forget_logs() -> int:
    """Readers leave out what is too old by themselves; whole days are dropped with their partitions."""
    removed = 0
    for channel in Channel.objects.filter(last_log__gt=0).values_list("id", flat=True).iterator(PAGE):
        while found := sql.run((FORGET_LOGS, {"channel": channel, "batch": BATCH}))[0][0][0]:
            removed += found
            if found < BATCH:
                break
    return removed


def forget_grants() -> int:
    """A day after their end nobody asks for the reason any more: they are unknown then."""
    removed, _ = ChannelGrant.objects.filter(expires_at__lt=Now() - GRANTS_KEPT).delete()
    sql.run((FORGET_LIVE, {}))
    return removed
