"""What lists of queues and schedules can be narrowed by."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from apps.queues.models import Queue, Schedule
from core.names import as_uuid


class QueueFilter(django_filters.FilterSet):
    name = django_filters.CharFilter(label="Only the queue of this name.")
    paused = django_filters.BooleanFilter(
        "paused_at", "isnull", exclude=True, label="Only paused ones, or only running ones."
    )

    class Meta:
        model = Queue
        fields: list[str] = []


class ScheduleFilter(django_filters.FilterSet):
    name = django_filters.CharFilter(label="Only the schedule of this name.")
    queue = django_filters.CharFilter(method="by_queue", label="The name or id of the queue.")
    enabled = django_filters.BooleanFilter(label="Only enabled ones, or only others.")

    class Meta:
        model = Schedule
        fields: list[str] = []

    def by_queue(self, found: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        uid = as_uuid(value)
        return found.filter(Q(queue__uid=uid) if uid else Q(queue__name=value))
