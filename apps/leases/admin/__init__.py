"""Consumer groups as administrators see them, and moving a reader, whichever kind it is of."""

from apps.leases.admin import groups

__all__ = ["groups"]
