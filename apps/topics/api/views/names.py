"""Which topic a path names, for those whose patterns reach it only."""

from apps.access.scopes import Principal
from apps.topics.selectors import resolve
from apps.topics.selectors.resolve import TopicRef
from core.names import as_uuid


def name_for(principal: Principal, scope: str, text: str) -> str:
    """The name behind a name or uid, whether or not there is such a topic. Raises NotFound outside the patterns."""
    name = text if as_uuid(text) is None else resolve.topic(text).name
    principal.require(scope, name)
    return name


def topic_for(principal: Principal, scope: str, text: str) -> TopicRef:
    """Raises NotFound, also outside the patterns."""
    return resolve.topic(name_for(principal, scope, text))
