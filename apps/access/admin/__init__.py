"""API clients and the audit trail, as administrators see them."""

from apps.access.admin import clients, keys, trail

__all__ = ["clients", "keys", "trail"]
