from django.urls import URLPattern, URLResolver, path, register_converter
from django.urls.converters import PathConverter

from apps.cursors.api.views import consuming, groups

PARTITION = "topics/<str:topic>/partitions/<number:partition>"
GROUP = "topics/<str:topic>/groups/<str:group>"


class Rest(PathConverter):
    """All that follows, slashes and line ends too: whoever is no member has left, whatever its name is."""

    regex = "(?s:.+)"


register_converter(Rest, "rest")

urlpatterns: list[URLPattern | URLResolver] = [
    path("topics/<str:topic>/consume", consuming.ConsumeAll.as_view()),
    path(f"{PARTITION}/consume", consuming.ConsumePartition.as_view()),
    path(f"{PARTITION}/commit", consuming.CommitOffset.as_view()),
    path("topics/<str:topic>/groups", groups.Groups.as_view()),
    path(GROUP, groups.OneGroup.as_view()),
    path(f"{GROUP}/assignments", consuming.Assignments.as_view()),
    path(f"{GROUP}/assignments/<rest:member>", consuming.OneAssignment.as_view()),
]
