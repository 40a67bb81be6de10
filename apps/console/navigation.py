"""The sidebar: the systems, in the order in which an operator looks for trouble."""

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

SECTIONS: dict[str, list[tuple[str, str, str]]] = {
    "": [("Overview", "monitoring", "index")],
    "Reading": [
        ("Destinations", "outbound", "destinations_destination_changelist"),
        ("Leases", "lock_clock", "leases"),
    ],
    "Storing": [
        ("Queues", "queue", "queues_queue_changelist"),
        ("Schedules", "event_repeat", "queues_schedule_changelist"),
        ("Topics", "topic", "topics_topic_changelist"),
        ("Channels", "podcasts", "channels_channel_changelist"),
    ],
    "Access": [
        ("API keys", "key", "access_apikey_changelist"),
        ("OAuth applications", "apps", "oauth2_provider_application_changelist"),
        ("Audit", "history", "access_auditrecord_changelist"),
        ("Users", "group", "auth_user_changelist"),
    ],
}


def sections(request: HttpRequest) -> list[dict[str, Any]]:
    """UNFOLD's SIDEBAR.navigation."""
    return [{"title": title, "items": _items(entries)} for title, entries in SECTIONS.items()]


def _items(entries: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    return [{"title": title, "icon": icon, "link": link} for title, icon, name in entries if (link := _link(name))]


def _link(name: str) -> str:
    """Empty while this installation has no such page."""
    try:
        return reverse(f"admin:{name}")
    except NoReverseMatch:
        return ""
