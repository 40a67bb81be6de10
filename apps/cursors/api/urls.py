from django.urls import URLPattern, URLResolver, path

from apps.cursors.api.views import consuming, groups

PARTITION = "topics/<str:topic>/partitions/<int:partition>"
GROUP = "topics/<str:topic>/groups/<str:group>"

urlpatterns: list[URLPattern | URLResolver] = [
    path("topics/<str:topic>/consume", consuming.ConsumeAll.as_view()),
    path(f"{PARTITION}/consume", consuming.ConsumePartition.as_view()),
    path(f"{PARTITION}/commit", consuming.CommitOffset.as_view()),
    path("topics/<str:topic>/groups", groups.Groups.as_view()),
    path(GROUP, groups.OneGroup.as_view()),
    path(f"{GROUP}/assignments", consuming.Assignments.as_view()),
    path(f"{GROUP}/assignments/<path:member>", consuming.OneAssignment.as_view()),
]
