from django.urls import URLPattern, URLResolver, path

from apps.access.api import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("oauth/token", views.TokenView.as_view()),
    path("v1/audit", views.AuditTrail.as_view()),
    path("v1/openapi.json", views.OpenApiDocument.as_view()),
    path("docs", views.Docs.as_view()),
]
