from django.urls import URLPattern, URLResolver, path

from apps.destinations.api.views import configure, dead_letters, deliver, inspect, reading, webhooks

ONE = "event-destinations/<str:destination>"

urlpatterns: list[URLPattern | URLResolver] = [
    path("event-destinations", configure.Destinations.as_view()),
    path(ONE, configure.OneDestination.as_view()),
    path(f"{ONE}/pause", configure.PauseDestination.as_view()),
    path(f"{ONE}/resume", configure.ResumeDestination.as_view()),
    path(f"{ONE}/pull", deliver.PullBatch.as_view()),
    path(f"{ONE}/acknowledge", deliver.AcknowledgeBatch.as_view()),
    path(f"{ONE}/extend", deliver.ExtendLease.as_view()),
    path(f"{ONE}/seek", reading.SeekDestination.as_view()),
    path("topics/<str:topic>/cursors", reading.AllCursors.as_view()),
    path("topics/<str:topic>/partitions/<number:partition>/cursors", reading.PartitionCursors.as_view()),
    path(f"{ONE}/lag", inspect.Lag.as_view()),
    path(f"{ONE}/leases", inspect.Leases.as_view()),
    path(f"{ONE}/leases/<uuid:lease>/expire", inspect.ExpireLease.as_view()),
    path(f"{ONE}/leases/<uuid:lease>/extend", inspect.ExtendLeaseOfWorker.as_view()),
    path(f"{ONE}/leases/<uuid:lease>/park", inspect.ParkLease.as_view()),
    path(f"{ONE}/dead-letters", dead_letters.DeadLetters.as_view()),
    path(f"{ONE}/dead-letters/<uuid:letter>/redrive", dead_letters.RedriveDeadLetter.as_view()),
    path(f"{ONE}/dead-letters/<uuid:letter>/discard", dead_letters.DiscardDeadLetter.as_view()),
    path(f"{ONE}/rotate-secret", webhooks.RotateSecret.as_view()),
    path(f"{ONE}/attempts", webhooks.Attempts.as_view()),
    path(f"{ONE}/test", webhooks.TestWebhook.as_view()),
    path(f"{ONE}/resend", webhooks.ResendEvent.as_view()),
]
