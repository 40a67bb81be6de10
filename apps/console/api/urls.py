from django.urls import URLPattern, URLResolver, path

from apps.console.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", views.healthz),
    path("readyz", views.Readiness.as_view()),
    path("metrics", views.Metrics.as_view()),
]
