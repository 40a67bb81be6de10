"""What every page of the admin shares: rows that are only read, lists without COUNT(*), and actions that ask first.

Permissions are the console's own (apps.console.models.Role): a page or action names one, never a role.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ShowFacets, site
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from unfold import paginator
from unfold.admin import ModelAdmin
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from core import words
from core.errors import DomainError

LAST_PAGE = 1_000  # an OFFSET further down would be a slow page that nobody reads


class InfinitePaginator(paginator.InfinitePaginator):
    """Previous and next, without ever counting the rows. unfold's header knows by this name to show no number of results."""

    @cached_property
    def count(self) -> int:
        return self.per_page * LAST_PAGE


class LookedUpList(ChangeList):
    """A list whose rows show more than their own columns, looked up for all rows of the page at once."""

    def look_up(self, request: HttpRequest, rows: list[Any]) -> None:
        """Puts it on the rows."""
        raise NotImplementedError

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        self.look_up(request, self.result_list)


class RuntimeAdmin(ModelAdmin):
    """A list and pages of rows that only the platform writes: nothing can be added, changed or deleted by a form."""

    view_permission = "console.view_console"
    paginator = InfinitePaginator
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # they count every choice of every filter
    list_disable_select_all = True
    list_per_page = 50

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return may(request, self.view_permission)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may(request, self.view_permission)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Django only shrugs at an action that this person does not have; here it is refused."""
        if request.method == "POST" and request.POST.get("action") not in self.get_actions(request):
            raise PermissionDenied
        return super().changelist_view(request, extra_context)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of one row: no form, but what `show` makes of it."""
        demand(request, self.view_permission)
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        return self.show(request, row)

    def show(self, request: HttpRequest, row: Any) -> HttpResponse:
        shown = [(field.verbose_name, said(getattr(row, field.attname))) for field in row._meta.concrete_fields]
        return self.page(request, "console/row.html", str(row), {"shown": shown})

    def page(self, request: HttpRequest, template: str, title: str, context: Mapping[str, Any]) -> TemplateResponse:
        """With the way back to the list."""
        back = reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
        return page(request, template, title, {"list_url": back, "list_name": self.opts.verbose_name_plural, **context})


def said(value: Any) -> Any:
    """A stored value in words."""
    match value:
        case None | "":
            return "none"
        case bool():
            return "yes" if value else "no"
        case datetime():
            return words.moment(value)
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
    return value


def may(request: HttpRequest, permission: str) -> bool:
    user: User | AnonymousUser = request.user
    return user.is_active and user.has_perm(permission)


def person(request: HttpRequest) -> User:
    """Who acts: what the audit record names."""
    assert isinstance(request.user, User)
    return request.user


def demand(request: HttpRequest, permission: str) -> None:
    """Raises PermissionDenied (403): every page and action says what it needs in its first line."""
    if not may(request, permission):
        raise PermissionDenied


def page(request: HttpRequest, template: str, title: str, context: Mapping[str, Any]) -> TemplateResponse:
    """A page of the site that is no model's list or form."""
    request.current_app = site.name
    return TemplateResponse(request, template, {**site.each_context(request), "title": title, **context})


class ReasonForm(forms.Form):
    """The least that an action asks: why."""

    reason = forms.CharField(
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2, "autofocus": True}),
        help_text="Stands in the audit trail and where others see the effect.",
    )


class TypedForm(ReasonForm):
    """For what is hard to take back: the name is typed as well. `typed(name)` makes the form of one thing."""

    expected = ""
    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}))

    def clean_name(self) -> str:
        if self.cleaned_data["name"] != self.expected:
            raise forms.ValidationError(f"This is not {self.expected}.")
        return self.expected


def typed(name: str, form: type[TypedForm] = TypedForm) -> type[TypedForm]:
    field = forms.CharField(
        max_length=200,
        label=f"Type {name}, to be sure",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
    )
    return type(form.__name__, (form,), {"expected": name, "name": field})


@dataclass(frozen=True)
class Button:
    """The way to an action's page."""

    label: str
    url: str
    blocked: str = ""
    """Why it cannot be pressed: shown on it."""
    danger: bool = False


NOT_WITH_THIS_ROLE = "Not with your role."


@dataclass
class Action:
    """A change that is asked for on a page of its own: what will happen, in numbers; then the button, as a POST."""

    title: str
    effects: Sequence[str]
    button: str
    perform: Callable[[forms.Form], str | HttpResponse]
    """Does it and returns what was done, in a sentence, or a page of its own (for what is shown only once)."""
    back: str
    form_class: Callable[..., forms.Form] = ReasonForm
    blocked: str = ""
    """Why it cannot be done now; the button is disabled."""
    danger: bool = False
    template: str = "console/confirm.html"
    hidden: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the confirming POST has to carry along: the rows that a list action was started on."""


def confirm(request: HttpRequest, action: Action) -> HttpResponse:
    """Shows the action's page, or performs it when this is the confirming POST."""
    confirmed = request.method == "POST" and "confirmed" in request.POST
    form = action.form_class(request.POST if confirmed else None)
    if confirmed and not action.blocked and form.is_valid():
        try:
            return _done(request, action, action.perform(form))
        except DomainError as error:
            form.add_error(None, error.message)
    return page(request, action.template, action.title, {"action": action, "form": form})


def _done(request: HttpRequest, action: Action, outcome: str | HttpResponse) -> HttpResponse:
    if isinstance(outcome, HttpResponse):
        return outcome
    messages.success(request, outcome)
    return HttpResponseRedirect(action.back)


class UntilField(forms.DateTimeField):
    """An optional time in the administrator's zone, which has to lie ahead."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local", "class": "tp-until"})
        super().__init__(required=False, widget=widget, **kwargs)

    def clean(self, value: Any) -> datetime | None:
        until: datetime | None = super().clean(value)
        if until is not None and until <= timezone.now():
            raise forms.ValidationError("This time has passed.")
        return until
