"""What a bulk operation may be refused for."""

from core.errors import Conflict


class BulkEnded(Conflict):
    """It has ended: there is nothing left to cancel."""

    code = "BULK_ENDED"
