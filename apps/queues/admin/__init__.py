"""Queues, their events and schedules as operators see them: read-only rows, and actions that ask first."""

from apps.queues.admin import queues, schedules

__all__ = ["queues", "schedules"]
