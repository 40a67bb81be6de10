"""What a pull, an acknowledgement or a redrive may be refused for."""

from core.errors import Conflict, TooMany


class DestinationPaused(Conflict):
    """The destination is paused; nothing is handed out until it is resumed."""

    code = "DESTINATION_PAUSED"


class WindowFull(TooMany):
    """As many events are out as the destination allows; acknowledge some first."""

    code = "WINDOW_FULL"


class AlreadyRedriven(Conflict):
    """This dead letter has been handed out again already."""

    code = "ALREADY_REDRIVEN"
