"""The sidebar: the systems, in the order in which an operator looks for trouble."""

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

SECTIONS: dict[str, list[tuple[str, str, str]]] = {
    "": [("Overview", "monitoring", "index")],
    "Reading": [
        ("Destinations", "outbound", "destinations_destination_changelist"),
        ("Consumer groups", "groups", "cursors_group_changelist"),
        ("Leases", "lock_clock", "leases"),
        ("Dead letters", "mail_off", "dead_letters"),
        ("Bulk operations", "checklist", "console_bulk_changelist"),
    ],
    "Storing": [
        ("Queues", "queue", "queues_queue_changelist"),
        ("Schedules", "event_repeat", "queues_schedule_changelist"),
        ("Topics", "topic", "topics_topic_changelist"),
        ("Channels", "podcasts", "channels_channel_changelist"),
        ("Kinds of channels", "category", "channels_channelkind_changelist"),
    ],
    "Access": [
        ("API keys", "key", "access_apikey_changelist"),
        ("OAuth clients", "apps", "access_oauthclient_changelist"),
        ("Audit", "history", "access_audit_changelist"),
        ("Users", "group", "auth_user_changelist"),
        ("Roles", "shield_person", "auth_group_changelist"),
        ("Beat", "timer", "django_celery_beat_periodictask_changelist"),
    ],
}


FOR_SUPERUSERS = {"auth_user_changelist", "auth_group_changelist"}


def sections(request: HttpRequest) -> list[dict[str, Any]]:
    """UNFOLD's SIDEBAR.navigation."""
    hidden = set() if getattr(request.user, "is_superuser", False) else FOR_SUPERUSERS
    return [
        {"title": title, "items": [_item(*entry) for entry in entries if entry[2] not in hidden and _link(entry[2])]}
        for title, entries in SECTIONS.items()
    ]


def _item(title: str, icon: str, name: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": _link(name)}


def _link(name: str) -> str:
    """Empty while this installation has no such page."""
    try:
        return reverse(f"admin:{name}")
    except NoReverseMatch:
        return ""
