"""Which group a call touches, for those whose patterns reach it only: `topic/group`."""

from rest_framework.request import Request

from apps.access.api.permissions import caller
from apps.topics.selectors import resolve
from apps.topics.selectors.resolve import TopicRef
from core.errors import InvalidField, InvalidParameter
from core.names import as_uuid, check_name


def reach(request: Request, scope: str, topic: str, group: str) -> TopicRef:
    """The topic. Raises NotFound, also outside the patterns, and Invalid for what is no name of a group."""
    caller(request).require(scope)
    check_name(group, "group", InvalidParameter if request.method == "GET" else InvalidField)
    name = topic if as_uuid(topic) is None else resolve.topic(topic).name
    caller(request).require(scope, f"{name}/{group}")
    return resolve.topic(topic)
