"""Topics and the events in them, as administrators see them. Events are only read."""

from apps.topics.admin import pages

__all__ = ["pages"]
