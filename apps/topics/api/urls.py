from django.urls import path

from apps.topics.api.views import publishing
from apps.topics.api.views import topics as views

urlpatterns = [
    path("topics", views.Topics.as_view()),
    path("topics/<str:topic>", views.OneTopic.as_view()),
    path("topics/<str:topic>/records", publishing.Records.as_view()),
    path("topics/<str:topic>/events", publishing.Events.as_view()),
    path("topics/<str:topic>/bounds", views.AllBounds.as_view()),
    path("topics/<str:topic>/load", views.AllLoads.as_view()),
    path("topics/<str:topic>/partitions/<number:partition>/records", views.PartitionRecords.as_view()),
    path("topics/<str:topic>/partitions/<number:partition>/bounds", views.PartitionBounds.as_view()),
    path("topics/<str:topic>/partitions/<number:partition>/load", views.PartitionLoad.as_view()),
]
