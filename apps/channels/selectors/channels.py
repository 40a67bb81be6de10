"""Channels as operators see them."""

from collections.abc import Sequence

from apps.channels.models import Channel
from core import sql
from core.errors import NotFound

LIVE_NOW = sql.statement(__file__, "live_now")


def find(name: str) -> Channel:
    """Raises NotFound, also for one that is deleted."""
    channel = Channel.objects.select_related("kind").filter(name=name, deleted_at=None).first()
    if channel is None:
        raise NotFound("There is no such channel.")
    return channel


def live_connections(names: Sequence[str]) -> dict[str, int]:
    """Over all processes, as of a few seconds ago."""
    return dict(sql.run((LIVE_NOW, {"channels": list(names)}))[0])
