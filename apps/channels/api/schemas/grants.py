"""Grants as clients send and see them."""

from typing import Annotated

from msgspec import UNSET, Meta

from apps.channels.names import check_channel
from core.errors import InvalidField
from core.notes import Note
from core.openapi import Answer
from core.parse import Body

Subject = Annotated[str, Meta(min_length=1, max_length=200)]
Channels = Annotated[list[str], Meta(min_length=1, max_length=100)]


class MakeGrant(Body, frozen=True):
    channels: Channels
    subject: Subject
    ttl_seconds: Annotated[int, Meta(ge=1, le=86_400)]


class Revoke(Body, frozen=True):
    subject: Subject
    channels: Channels | None = None
    reason: Note = UNSET


class Grant(Answer):
    id: str
    token: str
    expires_at: str


class Revoked(Answer):
    """How many grants lost at least one channel."""

    revoked: int


def checked_channels(channels: list[str]) -> list[str]:
    """Raises InvalidField for what no channel is called, and for one named twice."""
    for index, channel in enumerate(channels):
        check_channel(channel, f"channels[{index}]")
        if channel in channels[:index]:
            raise InvalidField("This channel is named twice.", field=f"channels[{index}]")
    return channels
