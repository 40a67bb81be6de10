"""What channels may be called: `kind:key`, as `job:42`; the kind ends at the first colon."""

from core.errors import InvalidField, NotFound
from core.names import check_name

POINTER, RESYNC = "beyond-cdn-pointer/1", "resync.required"
"""What a live connection says of itself. It is no event, so no event is of such a type: a follower could not tell."""


def check_channel(name: str, field: str = "channel") -> str:
    """The name itself. Raises InvalidField."""
    kind, colon, key = check_name(name, field).partition(":")
    if not (kind and colon and key):
        raise InvalidField("A channel is named kind:key, as job:42.", field=field)
    return name


def existing_channel(name: str) -> str:
    """A name from a path: one that no channel can have is one that does not exist. Raises NotFound."""
    try:
        return check_channel(name)
    except InvalidField:
        raise NotFound("There is no such channel.") from None


def check_type(text: str, field: str = "type") -> str:
    """The type of an event itself. Raises InvalidField."""
    if text in (POINTER, RESYNC):
        raise InvalidField(f"Events of type {text} are the live transport's own; take another type.", field=field)
    return text


def kind_of(name: str) -> str:
    return name.partition(":")[0]


def notice_key(name: str) -> str:
    """By name and not by number: one may listen for a channel that nobody has published to yet."""
    return f"channel:{name}"
