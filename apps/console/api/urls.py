from django.urls import URLPattern, URLResolver, path

from apps.console.api.views import bulk, service

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", service.healthz),
    path("readyz", service.Readiness.as_view()),
    path("metrics", service.Metrics.as_view()),
    path("v1/bulk-operations", bulk.Bulks.as_view()),
    path("v1/bulk-operations/<uuid:number>", bulk.OneBulk.as_view()),
    path("v1/bulk-operations/<uuid:number>/cancel", bulk.CancelBulk.as_view()),
    path("v1/bulk-operations/<uuid:number>/items", bulk.BulkItems.as_view()),
]
