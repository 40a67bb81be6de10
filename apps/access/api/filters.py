"""Filters of this app's lists."""

import django_filters

from apps.access.models import Audit


class AuditFilter(django_filters.FilterSet):
    verb = django_filters.CharFilter(label="What was done, as `pause`.")
    objectKind = django_filters.CharFilter(field_name="object_kind", label="The kind of thing, as `destination`.")
    objectName = django_filters.CharFilter(field_name="object_name", label="The name of the thing.")
    objectId = django_filters.CharFilter(field_name="object_id", label="The id of the thing.")
    actorName = django_filters.CharFilter(field_name="actor_name", label="Who did it.")
    since = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="gte", label="At or after this time.")
    until = django_filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt", label="Before this time.")

    class Meta:
        model = Audit
        fields: list[str] = []
