"""What is asked when a credential is made."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.forms import BoundField
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanWidget

from apps.access.scopes import SCOPES, Grant, check_grants
from core.admin import UntilField
from core.errors import Invalid
from core.names import check_name


class ClientForm(forms.Form):
    """A name, and each scope with the names that narrow it."""

    name = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget(attrs={"autofocus": True}))
    scope_errors: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for scope in SCOPES:
            self.fields[scope] = forms.BooleanField(required=False, widget=UnfoldBooleanWidget())
            label = {"placeholder": "every name", "aria-label": f"Names for {scope}"}
            self.fields[_names(scope)] = forms.CharField(required=False, widget=UnfoldAdminTextInputWidget(attrs=label))

    @property
    def plain_fields(self) -> list[BoundField]:
        return [bound for bound in self if ":" not in bound.name]

    @property
    def scope_rows(self) -> Iterator[tuple[str, BoundField, BoundField]]:
        return ((scope, self[scope], self[_names(scope)]) for scope in SCOPES)

    def clean_name(self) -> str:
        return _plainly(check_name, self.cleaned_data["name"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        try:
            self.grants = check_grants(
                Grant(scope, tuple(cleaned[_names(scope)].split())) for scope in SCOPES if cleaned.get(scope)
            )
        except Invalid as error:
            self.scope_errors = [error.message]
            raise forms.ValidationError(error.message) from None
        return cleaned


class KeyForm(ClientForm):
    expires_at = UntilField(label="Expires", help_text="Without a time it is in force until it is revoked.")


class RotateForm(forms.Form):
    keep_tokens = forms.BooleanField(
        required=False,
        label="Keep the tokens it has",
        widget=UnfoldBooleanWidget(),
        help_text="They run out by themselves, within the hour. Not when the present secret may be in the wrong hands.",
    )


def _names(scope: str) -> str:
    return f"{scope}:names"


def _plainly(check: Any, value: str) -> str:
    """The platform's own rule, its objection said by the form."""
    try:
        return str(check(value))
    except Invalid as error:
        raise forms.ValidationError(error.message) from None
