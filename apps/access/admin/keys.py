"""API keys: made here and shown once, rotated, revoked."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from apps.access import operations
from apps.access.admin.forms import KeyForm
from apps.access.models import ApiKey
from core import words
from core.admin import Action, ReasonForm, RuntimeAdmin, confirm, demand, may, page, person

MANAGE = "console.manage_clients"


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("live", "in force"), ("expired", "expired"), ("revoked", "revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        past = {"expires_at__lte": timezone.now()}
        match self.value():
            case "live":
                return queryset.filter(revoked_at=None).exclude(**past)
            case "expired":
                return queryset.filter(revoked_at=None, **past)
            case "revoked":
                return queryset.exclude(revoked_at=None)
        return queryset


@admin.register(ApiKey)
class ApiKeyAdmin(RuntimeAdmin):
    list_display = ("name", "shown_prefix", "grants_shown", "state", "last_used", "expires", "created")
    list_filter = (StateFilter,)
    search_fields = ("name", "prefix")
    ordering = ("name", "-id")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, MANAGE)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:number>/rotate/", view(self.rotate), name="access_apikey_rotate"),
            path("<int:number>/revoke/", view(self.revoke), name="access_apikey_revoke"),
            *super().get_urls(),
        ]

    @display(description="key")
    def shown_prefix(self, key: ApiKey) -> str:
        return f"tpk_{key.prefix}…"

    @display(description="scopes")
    def grants_shown(self, key: ApiKey) -> str:
        return shown_grants(key.grants)

    @display(description="state", label={"in force": "success", "expired": "warning", "revoked": "danger"})
    def state(self, key: ApiKey) -> str:
        if key.revoked_at is not None:
            return "revoked"
        return "expired" if key.expires_at is not None and key.expires_at <= timezone.now() else "in force"

    @display(description="last use", ordering="last_used_at")
    def last_used(self, key: ApiKey) -> str:
        return words.ago(key.last_used_at)

    @display(description="expires", ordering="expires_at")
    def expires(self, key: ApiKey) -> str:
        return words.moment(key.expires_at)

    @display(description="made", ordering="created_at")
    def created(self, key: ApiKey) -> str:
        return words.ago(key.created_at)

    def show(self, request: HttpRequest, key: ApiKey) -> HttpResponse:
        context = {"key": key, "state": self.state(key), "may_manage": may(request, MANAGE)}
        return self.page(request, "access/key.html", f"API key {key.name}", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        demand(request, MANAGE)

        def create(form: forms.Form) -> HttpResponse:
            assert isinstance(form, KeyForm)
            given = form.cleaned_data
            _, token = operations.create_api_key(
                given["name"], form.grants, expires_at=given["expires_at"], actor=person(request)
            )
            return _shown(request, given["name"], token)

        action = Action(
            title="New API key",
            effects=[
                "A key is made and shown once.",
                "Whoever has it can do what its scopes say, with the names they cover.",
            ],
            button="Make the key",
            perform=create,
            back=reverse("admin:access_apikey_changelist"),
            form_class=KeyForm,
            template="access/new_client.html",
        )
        return confirm(request, action)

    def rotate(self, request: HttpRequest, number: int) -> HttpResponse:
        demand(request, MANAGE)
        key = get_object_or_404(ApiKey, pk=number)
        action = Action(
            title=f"Rotate API key {key.name}",
            effects=[
                f"A new secret is made for {key.name} and shown once; scopes and expiry stay.",
                f"The present secret (tpk_{key.prefix}…, {_last_use(key)}) is refused within 5 seconds everywhere.",
            ],
            button="Rotate",
            perform=lambda form: _shown(request, key.name, operations.rotate_api_key(key, actor=person(request))),
            back=_url(key),
            form_class=forms.Form,
            blocked=_ended(key),
            danger=True,
        )
        return confirm(request, action)

    def revoke(self, request: HttpRequest, number: int) -> HttpResponse:
        demand(request, MANAGE)
        key = get_object_or_404(ApiKey, pk=number)

        def revoke(form: forms.Form) -> str:
            operations.revoke_api_key(key, actor=person(request), reason=form.cleaned_data["reason"])
            return f"The key {key.name} is revoked."

        action = Action(
            title=f"Revoke API key {key.name}",
            effects=[
                f"Every call with tpk_{key.prefix}… ({_last_use(key)}) is refused within 5 seconds everywhere.",
                "This cannot be undone; a new key can have the same name.",
            ],
            button="Revoke",
            perform=revoke,
            back=_url(key),
            form_class=ReasonForm,
            blocked=_ended(key),
            danger=True,
        )
        return confirm(request, action)


def shown_grants(grants: Iterable[dict[str, Any]]) -> str:
    """A line a scope, with the names that narrow it."""
    lines = ((grant["scope"], " ".join(grant["patterns"]) or "every name") for grant in grants)
    return format_html('<div class="tp-cell">{}</div>', format_html_join("", "<div>{} <small>{}</small></div>", lines))


def _url(key: ApiKey) -> str:
    return reverse("admin:access_apikey_change", args=[key.pk])


def _ended(key: ApiKey) -> str:
    return "This key is revoked already." if key.revoked_at is not None else ""


def _last_use(key: ApiKey) -> str:
    if key.last_used_at is None:
        return "never used"
    return f"last used {words.age((timezone.now() - key.last_used_at).total_seconds())} ago"


def shown_once(request: HttpRequest, name: str, secrets: list[tuple[str, str]], back: str, intro: str = "") -> HttpResponse:
    """The only page on which a secret ever stands."""
    context = {"intro": intro or f"{name} is made.", "secrets": secrets, "back": back}
    return page(request, "access/secret.html", name, context)


def _shown(request: HttpRequest, key: str, token: str) -> HttpResponse:
    return shown_once(request, f"API key {key}", [("Key", token)], reverse("admin:access_apikey_changelist"))
