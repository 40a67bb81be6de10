"""Bulk operations: begun on all that matches a filter, watched, ended early, and kept."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, reverse
from unfold.decorators import display

from apps.console.models import Bulk, BulkItem, Objects
from apps.console.operations.begin_bulk import begin
from apps.console.operations.cancel_bulk import cancel
from apps.console.selectors.bulk import Preview, names_of, preview
from apps.console.selectors.matching import MOST, Wanted
from apps.destinations.models import Type
from apps.destinations.selectors.cause import STATES
from core.admin import Action, ReasonForm, RuntimeAdmin, TypedForm, confirm, demand, may, page, person, typed
from core.errors import DomainError
from core.words import ago, count, counted

PERMISSIONS = {
    "redrive": "console.redrive",
    "discard": "console.purge",
    "pause": "console.pause",
    "resume": "console.pause",
}
ITEMS_SHOWN = 100


class WantedForm(forms.Form):
    """What it is to be about; the page after says how much that is."""

    use_required_attribute = False
    objects = forms.ChoiceField(choices=Objects.choices, label="Of what")
    verb = forms.ChoiceField(choices=[(verb, verb) for verb in PERMISSIONS], label="Do what")
    name = forms.CharField(required=False, max_length=200, label="Name of the destination or queue")
    topic = forms.CharField(required=False, max_length=200, label="Topic")
    type = forms.ChoiceField(required=False, choices=[("", "any"), *Type.choices], label="Type")
    state = forms.ChoiceField(required=False, choices=[("", "any"), *((each, each) for each in STATES)], label="State")
    search = forms.CharField(required=False, max_length=200, label="Words in its name or its topic's")
    fingerprint = forms.RegexField("^[0-9a-f]{16}$", required=False, label="Fingerprint of the error")

    def wanted(self) -> Wanted:
        given = self.cleaned_data
        rest = {name: given[name] for name in ("name", "topic", "type", "state", "fingerprint", "search")}
        return Wanted(given["verb"], Objects(given["objects"]), **rest)


class RateField(forms.IntegerField):
    def __init__(self) -> None:
        super().__init__(
            required=False,
            min_value=1,
            max_value=1_000,
            label="Items a second, at most",
            widget=forms.NumberInput(attrs={"class": "tp-until"}),
            help_text="Without one it goes as fast as it can.",
        )


class BeginForm(ReasonForm):
    rate = RateField()


class DiscardForm(TypedForm):
    rate = RateField()


def new(request: HttpRequest) -> HttpResponse:
    demand(request, "console.view_console")
    form = WantedForm(request.GET if "verb" in request.GET else None)
    if form.is_valid():
        wanted = form.wanted()
        demand(request, PERMISSIONS[wanted.verb])
        try:
            return _confirm(request, wanted, preview(wanted))
        except DomainError as error:
            form.add_error(None, error.message)
    if not any(may(request, permission) for permission in PERMISSIONS.values()):
        raise PermissionDenied
    context = {"form": form, "list_url": reverse("admin:console_bulk_changelist"), "list_name": "bulk operations"}
    return page(request, "console/bulk_new.html", "A bulk operation", context)


def _confirm(request: HttpRequest, wanted: Wanted, found: Preview) -> HttpResponse:
    def perform(form: forms.Form) -> HttpResponse:
        given = form.cleaned_data
        made = begin(person(request), wanted, given["reason"], rate=given["rate"])
        return HttpResponseRedirect(reverse("admin:console_bulk_change", args=[made.pk]))

    things = f"{'more than ' if found.more else ''}{found.number:,} {wanted.objects.label}"
    action = Action(
        title=f"{wanted.verb.capitalize()} {wanted.objects.label}",
        effects=_effects(wanted, found, things),
        button=f"{wanted.verb.capitalize()} {'all' if found.more else counted(found.number, 'item')}",
        perform=perform,
        back=reverse("admin:console_bulk_changelist"),
        form_class=typed(wanted.verb, DiscardForm) if wanted.verb == "discard" else BeginForm,
        blocked="" if found.number else "Nothing matches.",
        danger=wanted.verb == "discard",
    )
    return confirm(request, action)


MEANING = {
    "redrive": "Each is handed out again with all its attempts.",
    "discard": "Each is removed for good. It cannot be undone.",
    "pause": "They hand out nothing more until they are resumed; what is leased may still be settled.",
    "resume": "They hand out again at once.",
}


def _effects(wanted: Wanted, found: Preview, things: str) -> list[str]:
    said = ", ".join(f"{name} {value}" for name, value in wanted.filter.items())
    some = ", ".join(dict.fromkeys(name for name, _ in found.sample))
    return [
        f"{things} match{f' ({said})' if said else ''}; they are noted now, what comes later is left alone.",
        *([f"One operation takes up to {MOST:,}: begin another for what is beyond."] if found.more else []),
        *([f"The first are of {some}."] if some else []),
        MEANING[wanted.verb],
        "It runs in the background, item by item; it can be watched, and cancelled on its page.",
    ]


@admin.register(Bulk)
class BulkAdmin(RuntimeAdmin):
    list_display = ("what", "state", "progress", "not_done", "actor_name", "begun")
    list_filter = ("state",)
    ordering = ("-id",)
    sortable_by = ()
    list_before_template = "console/bulk_begin.html"  # type: ignore[assignment]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("new/", view(new), name="console_bulk_new"),
            path("<uuid:number>/live/", view(self.live), name="console_bulk_live"),
            path("<uuid:number>/cancel/", view(self.cancel), name="console_bulk_cancel"),
            *super().get_urls(),
        ]

    @display(description="operation")
    def what(self, row: Bulk) -> str:
        said = ", ".join(row.filter.values())
        return f"{row}{f': {said}' if said else ''}"

    @display(description="processed")
    def progress(self, row: Bulk) -> str:
        return f"{count(row.processed)} of {count(row.total)}"

    @display(description="skipped / failed")
    def not_done(self, row: Bulk) -> str:
        return f"{count(row.skipped)} / {count(row.failed)}"

    @display(description="begun")
    def begun(self, row: Bulk) -> str:
        return ago(row.created_at)

    def show(self, request: HttpRequest, row: Bulk) -> HttpResponse:
        return self.page(request, "console/bulk.html", str(row).capitalize(), _shown(request, row))

    def live(self, request: HttpRequest, number: UUID) -> HttpResponse:
        demand(request, self.view_permission)
        return render(request, "console/bulk_live.html", _shown(request, get_object_or_404(Bulk, pk=number)))

    def cancel(self, request: HttpRequest, number: UUID) -> HttpResponse:
        row = Bulk.objects.filter(pk=number).first()
        if row is None:
            raise Http404
        demand(request, PERMISSIONS[row.verb])

        def perform(form: forms.Form) -> str:
            cancel(person(request), number, form.cleaned_data["reason"])
            return "Cancelled: no further item is begun."

        left = counted(row.total - row.processed, "item")
        effects = [f"{left} stay as they are; what is done stays done.", "It cannot be taken up again: begin another one."]
        blocked = "" if row.state == Bulk.State.RUNNING else "It has ended."
        back = reverse("admin:console_bulk_change", args=[number])
        return confirm(request, Action(f"Cancel: {row}", effects, "Cancel the rest", perform, back, blocked=blocked))


def _shown(request: HttpRequest, row: Bulk) -> dict[str, Any]:
    not_done = (BulkItem.State.SKIPPED, BulkItem.State.FAILED)
    items = list(row.items.filter(state__in=not_done).order_by("n")[:ITEMS_SHOWN])
    names = names_of([(item.home, item.target) for item in items])
    return {
        "bulk": row,
        "share": row.processed * 100 // row.total if row.total else 100,
        "items": [(item, names.get(item.home, "deleted")) for item in items],
        "may_cancel": row.state == Bulk.State.RUNNING and may(request, PERMISSIONS[row.verb]),
    }
