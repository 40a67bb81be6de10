"""Channels, their kinds and grants as operators see them; one can be followed live."""

from apps.channels.admin import kinds, pages

__all__ = ["kinds", "pages"]
