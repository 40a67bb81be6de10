"""OAuth 2 clients, in place of what django-oauth-toolkit would register: that shows tokens and lets scopes be forgotten."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from oauth2_provider.models import AccessToken, Application, Grant, IDToken, RefreshToken
from unfold.decorators import display

from apps.access import operations
from apps.access.admin.forms import ClientForm, RotateForm
from apps.access.admin.keys import MANAGE, shown_grants, shown_once
from apps.access.models import OAuthClient
from core import words
from core.admin import Action, ReasonForm, RuntimeAdmin, confirm, demand, may, person

admin.site.unregister([AccessToken, Application, Grant, IDToken, RefreshToken])


@admin.register(OAuthClient)
class OAuthClientAdmin(RuntimeAdmin):
    list_display = ("name", "client_id", "grants_shown", "state", "created")
    list_select_related = ("application",)
    search_fields = ("name", "application__client_id")
    ordering = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, MANAGE)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        verbs = {"rotate": self.rotate, "disable": self.disable, "enable": self.enable, "remove": self.remove}
        mine = [path(f"<int:number>/{verb}/", view(act), name=f"access_oauthclient_{verb}") for verb, act in verbs.items()]
        return [*mine, *super().get_urls()]

    @display(description="client id")
    def client_id(self, client: OAuthClient) -> str:
        return str(client.application.client_id)

    @display(description="scopes")
    def grants_shown(self, client: OAuthClient) -> str:
        return shown_grants(client.grants)

    @display(description="state", label={"in force": "success", "disabled": "danger"})
    def state(self, client: OAuthClient) -> str:
        return "in force" if client.disabled_at is None else "disabled"

    @display(description="made", ordering="created_at")
    def created(self, client: OAuthClient) -> str:
        return words.ago(client.created_at)

    def show(self, request: HttpRequest, client: OAuthClient) -> HttpResponse:
        context = {"client": client, "state": self.state(client), "may_manage": may(request, MANAGE)}
        return self.page(request, "access/client.html", f"OAuth client {client.name}", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        demand(request, MANAGE)

        def create(form: forms.Form) -> HttpResponse:
            assert isinstance(form, ClientForm)
            made, secret = operations.create_oauth_client(form.cleaned_data["name"], form.grants, actor=person(request))
            secrets = [("Client id", made.application.client_id), ("Client secret", secret)]
            return shown_once(request, f"OAuth client {made.name}", secrets, _list())

        action = Action(
            title="New OAuth client",
            effects=[
                "A client id and a secret are made; the secret is shown once.",
                "With both, POST /oauth/token gives tokens for an hour: for the scopes asked for, of those chosen here.",
            ],
            button="Make the client",
            perform=create,
            back=_list(),
            form_class=ClientForm,
            template="access/new_client.html",
        )
        return confirm(request, action)

    def rotate(self, request: HttpRequest, number: int) -> HttpResponse:
        demand(request, MANAGE)
        client = _found(number)

        def rotate(form: forms.Form) -> HttpResponse:
            keep = form.cleaned_data["keep_tokens"]
            secret = operations.rotate_oauth_secret(client, keep_tokens=keep, actor=person(request))
            secrets = [("Client id", client.application.client_id), ("Client secret", secret)]
            intro = f"{client.name} has a new secret."
            return shown_once(request, f"OAuth client {client.name}", secrets, _url(client), intro)

        action = Action(
            title=f"Rotate the secret of OAuth client {client.name}",
            effects=[
                f"A new secret is made for {client.name} and shown once; client id and scopes stay.",
                "The present secret gets no more tokens from then on.",
                "Tokens it has are refused within 5 seconds everywhere, unless they are kept.",
            ],
            button="Rotate",
            perform=rotate,
            back=_url(client),
            form_class=RotateForm,
            danger=True,
        )
        return confirm(request, action)

    def disable(self, request: HttpRequest, number: int) -> HttpResponse:
        effects = [
            "It gets no more tokens, and those it has are refused within 5 seconds everywhere.",
            "It can be enabled again.",
        ]
        return _act(request, number, "disable", operations.disable_oauth_client, effects)

    def enable(self, request: HttpRequest, number: int) -> HttpResponse:
        effects = ["It gets tokens again with the secret it has; tokens of before that have not run out are good again."]
        return _act(request, number, "enable", operations.enable_oauth_client, effects)

    def remove(self, request: HttpRequest, number: int) -> HttpResponse:
        effects = ["The client and all its tokens are gone, within 5 seconds everywhere.", "This cannot be undone."]
        return _act(request, number, "delete", operations.delete_oauth_client, effects, back=_list())


def _act(
    request: HttpRequest, number: int, verb: str, operate: Callable[..., None], effects: list[str], back: str = ""
) -> HttpResponse:
    demand(request, MANAGE)
    client = _found(number)

    def perform(form: forms.Form) -> str:
        operate(client, actor=person(request), reason=form.cleaned_data["reason"])
        return f"The OAuth client {client.name} is {verb}d."

    action = Action(
        title=f"{verb.capitalize()} OAuth client {client.name}",
        effects=effects,
        button=verb.capitalize(),
        perform=perform,
        back=back or _url(client),
        form_class=ReasonForm,
        blocked=_blocked(client, verb),
        danger=verb != "enable",
    )
    return confirm(request, action)


def _blocked(client: OAuthClient, verb: str) -> str:
    if verb == "disable" and client.disabled_at is not None:
        return "It is disabled already."
    return "It is in force." if verb == "enable" and client.disabled_at is None else ""


def _found(number: int) -> OAuthClient:
    return get_object_or_404(OAuthClient.objects.select_related("application"), pk=number)


def _url(client: OAuthClient) -> str:
    return reverse("admin:access_oauthclient_change", args=[client.pk])


def _list() -> str:
    return reverse("admin:access_oauthclient_changelist")
