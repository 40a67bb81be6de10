"""Filters of this app's lists."""

import django_filters

from apps.console.models import Bulk, BulkItem


class BulkFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=Bulk.State.choices, label="running, done or cancelled.")

    class Meta:
        model = Bulk
        fields: list[str] = []


class BulkItemFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=BulkItem.State.choices, label="pending, done, skipped or failed.")

    class Meta:
        model = BulkItem
        fields: list[str] = []
