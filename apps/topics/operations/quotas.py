"""What a topic takes at most. A refusal is definite: nothing of the group was stored."""

from apps.topics.errors import QuotaExceeded
from apps.topics.load import rates
from apps.topics.selectors.resolve import TopicRef


def over_hot_quota(topic: TopicRef, records: int, size: int) -> QuotaExceeded:
    """Which of the two it is that `records` or `size` bytes of a partition would be over."""
    if topic.max_hot_records is not None and records > topic.max_hot_records:
        return _exceeded("maxHotRecords", topic.max_hot_records)
    return _exceeded("maxHotBytes", topic.max_hot_bytes)


def over_rate(topic: TopicRef, partition: int) -> QuotaExceeded | None:
    """Of a partition, in this process: while the rate of the last seconds is over the quota nothing more is taken."""
    limit = topic.max_records_per_second
    if limit is None or rates.current(topic.id, partition) < limit:
        return None
    return _exceeded("maxRecordsPerSecond", limit)


def over_backlog(topic: TopicRef, waiting: int) -> QuotaExceeded | None:
    """Appends that wait in this process already."""
    if topic.max_backlog is None or waiting < max(topic.max_backlog, 1):
        return None
    return _exceeded("maxBacklog", topic.max_backlog)


def _exceeded(quota: str, limit: int | None) -> QuotaExceeded:
    return QuotaExceeded(f"The topic's {quota} is {limit}.", quota=quota, max=limit)
