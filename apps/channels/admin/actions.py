"""What an operator may do to a channel or a grant: what it will mean, the reason, the button; then one operation."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.channels.models import Channel, ChannelGrant
from apps.channels.operations import grants
from apps.channels.operations.delete import delete
from apps.channels.selectors.channels import live_connections
from core.admin import Action, confirm, demand, person, typed
from core.words import counted

DELETE, REVOKE = "console.delete", "console.manage_clients"


def delete_channel(request: HttpRequest, channel: Channel) -> HttpResponse:
    demand(request, DELETE)

    def perform(form: forms.Form) -> str:
        delete(person(request), channel.name, form.cleaned_data["reason"])
        return f"Deleted {channel.name}."

    held = channel.last_sequence - channel.oldest_sequence + 1
    open_now = live_connections([channel.name])[channel.name]
    effects = [
        f"{counted(held, 'event')}, every document and every log line are removed. It cannot be undone.",
        f"Sequence {channel.last_sequence + 1} is taken: every cursor from before is answered 410.",
        f"{counted(open_now, 'live connection is', 'live connections are')} told to start over.",
    ]
    back = reverse("admin:channels_channel_changelist")
    return confirm(
        request, Action(f"Delete {channel.name}", effects, "Delete", perform, back, typed(channel.name), danger=True)
    )


def revoke_grant(request: HttpRequest, grant: ChannelGrant, back: str) -> HttpResponse:
    demand(request, REVOKE)
    open_channels = list(grant.channels.filter(revoked_at=None).values_list("channel", flat=True))

    def perform(form: forms.Form) -> str:
        grants.revoke(person(request), grant, form.cleaned_data["reason"])
        return f"The grant of {grant.subject} is revoked."

    effects = [
        f"{grant.subject} reads {', '.join(open_channels) or 'nothing'} with it no more: snapshot and replay answer 403.",
        "Its live connections end within 5 s. Other grants of the subject stay.",
    ]
    blocked = "" if open_channels else "It is revoked already."
    return confirm(request, Action(f"Revoke a grant of {grant.subject}", effects, "Revoke", perform, back, blocked=blocked))


def revoke_subject(request: HttpRequest, channel: Channel, subject: str, back: str) -> HttpResponse:
    demand(request, REVOKE)

    def perform(form: forms.Form) -> str:
        revoked = grants.revoke_subject(person(request), subject, None, None, form.cleaned_data["reason"])
        return f"{counted(revoked, 'grant')} of {subject} revoked."

    effects = [
        f"Every grant of {subject} issued until now is revoked, also for other channels than {channel.name}.",
        "Live connections with them end within 5 s. A grant made later works.",
    ]
    return confirm(request, Action(f"Revoke every grant of {subject}", effects, "Revoke all", perform, back, danger=True))
