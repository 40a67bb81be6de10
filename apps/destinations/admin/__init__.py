"""Destinations as operators see them: which are stuck, why, and the safe button."""

from apps.destinations.admin import pages

__all__ = ["pages"]
