from django.urls import URLPattern, URLResolver, path

from apps.queues.api.views import dead_letters, events, queues, schedules

urlpatterns: list[URLPattern | URLResolver] = [
    path("event-queues", queues.Queues.as_view()),
    path("event-queues/<queue>", queues.OneQueue.as_view()),
    path("event-queues/<queue>/pause", queues.Pause.as_view()),
    path("event-queues/<queue>/resume", queues.Resume.as_view()),
    path("event-queues/<queue>/purge", queues.Purge.as_view()),
    path("event-queues/<queue>/events", events.Events.as_view()),
    path("event-queues/<queue>/events/<uuid:event>", events.OneEvent.as_view()),
    path("event-queues/<queue>/claim", events.Claim.as_view()),
    path("event-queues/<queue>/ack", events.Acks.as_view()),
    path("event-queues/<queue>/dead-letters", dead_letters.DeadLetters.as_view()),
    path("event-queues/<queue>/dead-letters/<uuid:event>/redrive", dead_letters.Redrive.as_view()),
    path("event-queues/<queue>/dead-letters/<uuid:event>/discard", dead_letters.Discard.as_view()),
    path("events/<event>/heartbeat", events.Heartbeat.as_view()),
    path("events/<event>/ack", events.Ack.as_view()),
    path("events/<event>/nack", events.Nack.as_view()),
    path("schedules", schedules.Schedules.as_view()),
    path("schedules/<schedule>", schedules.OneSchedule.as_view()),
    path("schedules/<schedule>/run-now", schedules.RunNow.as_view()),
    path("schedules/<schedule>/next", schedules.NextTimes.as_view()),
]
