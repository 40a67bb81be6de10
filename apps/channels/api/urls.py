from django.urls import URLPattern, URLResolver, path

from apps.channels.api.views import grants, kinds, live, streams

urlpatterns: list[URLPattern | URLResolver] = [
    path("channel-kinds", kinds.Kinds.as_view()),
    path("channel-kinds/<kind>", kinds.OneKind.as_view()),
    path("streams/events", streams.ManyChannels.as_view()),
    path("streams/<channel>", streams.OneChannel.as_view()),
    path("streams/<channel>/snapshot", streams.Snapshot.as_view()),
    path("streams/<channel>/events", streams.Events.as_view()),
    path("streams/<channel>/live", live.Live.as_view()),
    path("streams/<channel>/logs", streams.Logs.as_view()),
    path("grants", grants.Grants.as_view()),
    path("grants/revoke", grants.RevokeSubject.as_view()),
    path("grants/<uuid:grant>", grants.OneGrant.as_view()),
]
