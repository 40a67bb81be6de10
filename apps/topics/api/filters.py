"""What a list of topics can be narrowed by."""

import django_filters

from apps.topics.models import Topic


class TopicFilter(django_filters.FilterSet):
    name = django_filters.CharFilter(field_name="name", label="Only the topic of this name.")

    class Meta:
        model = Topic
        fields = ("name",)
