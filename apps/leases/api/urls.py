from django.urls import URLPattern, URLResolver, path

from apps.leases.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("topics/<str:topic>/expire-cold", views.ExpireCold.as_view()),
    path("topics/<str:topic>/groups/<str:group>/seek", views.SeekGroup.as_view()),
]
