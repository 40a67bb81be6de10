"""People: accounts and the roles they have. Only a superuser changes them, since who grants roles has every role."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from apps.console.pages import bulk
from core.admin import RuntimeAdmin

__all__ = ["bulk"]

admin.site.unregister([User, Group, ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule])


class ForSuperusers(ModelAdmin):
    """Neither seen nor changed by anybody else."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _is_superuser(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return _is_superuser(request)


def _is_superuser(request: HttpRequest) -> bool:
    return request.user.is_active and bool(getattr(request.user, "is_superuser", False))


@admin.register(User)
class PersonAdmin(ForSuperusers, UserAdmin):  # type: ignore[misc, type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "is_active", "is_superuser", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    filter_horizontal = ()  # two boxes side by side do not fit


@admin.register(Group)
class RoleAdmin(ForSuperusers, GroupAdmin):  # type: ignore[misc]
    filter_horizontal = ()


@admin.register(PeriodicTask)
class BeatTaskAdmin(RuntimeAdmin):
    """What beat sends. Intervals live in code; here one sees when each was last sent."""

    list_display = ("name", "task", "interval", "enabled", "last_run_at", "total_run_count")
    list_select_related = ("interval",)
    search_fields = ("name", "task")
