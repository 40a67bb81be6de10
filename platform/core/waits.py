"""What a view that has nothing to answer yet may wait for.

The view answers at once, empty, and leaves a Wait in the request's environ. The gateway sleeps on it without a thread or a
connection and calls the same view again. Without the gateway (runserver, plain WSGI) the empty answer simply goes out.
"""

from dataclasses import dataclass

from django.http import HttpRequest

ENVIRON_KEY = "towpath.wait"
# Set by the gateway when it calls a view again: throttles, metrics and the access log count a request once.
AGAIN_KEY = "towpath.again"
MORE_KEY = "towpath.more"


@dataclass(frozen=True)
class Wait:
    keys: tuple[str, ...]
    """Notices (core.notices) any of which may mean that there is work now."""
    seconds: float
    """How long the client wants to wait in all, counted from the arrival of the request."""
    due_in: float | None = None
    """Seconds until something falls due by the passing of time alone (a schedule, the end of a lease)."""
    group: str = ""
    """Waiters of one group compete for the same work: a notice of n things wakes at most n of them."""


def wait_for(request: HttpRequest, wait: Wait) -> None:
    request.META[ENVIRON_KEY] = wait


def tell_there_is_more(request: HttpRequest) -> None:
    """This answer did not take all there was: the next waiter of the group is woken too."""
    request.META[MORE_KEY] = True


@dataclass
class Listening:
    """How the wake-up listener of this process is: None where there is none (runserver, a worker)."""

    alive: bool | None = None


listening = Listening()
