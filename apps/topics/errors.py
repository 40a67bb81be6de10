"""What topics can refuse beyond the common families."""

from core import errors


class QuotaExceeded(errors.Conflict):
    """A quota of the topic is used up; nothing of this partition's group was stored."""

    code = "QUOTA"


class InvalidEvent(errors.Invalid):
    """The event is not a valid CloudEvent."""

    code = "INVALID_EVENT"


class TopicInUse(errors.Conflict):
    """Destinations or consumer groups still read this topic."""

    code = "TOPIC_IN_USE"
