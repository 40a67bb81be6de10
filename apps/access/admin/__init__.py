"""API clients and the audit trail, as administrators see them."""

from apps.access.admin import keys, trail

__all__ = ["keys", "trail"]
