"""OAuth 2 clients, in place of what django-oauth-toolkit would register: that shows tokens and lets scopes be forgotten."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from oauth2_provider.models import AccessToken, Application, Grant, IDToken, RefreshToken
from unfold.decorators import display

from apps.access.admin.keys import shown_grants
from apps.access.models import OAuthClient
from core import words
from core.admin import RuntimeAdmin

admin.site.unregister([AccessToken, Application, Grant, IDToken, RefreshToken])


@admin.register(OAuthClient)
class OAuthClientAdmin(RuntimeAdmin):
    list_display = ("name", "client_id", "grants_shown", "state", "created")
    list_select_related = ("application",)
    search_fields = ("name", "application__client_id")
    ordering = ("name",)

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
        context = {"client": client, "state": self.state(client)}
        return self.page(request, "access/client.html", f"OAuth client {client.name}", context)
