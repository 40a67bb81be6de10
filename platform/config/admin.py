"""Makes the console's site the project's admin site."""

from django.contrib.admin.apps import AdminConfig


class TowpathAdminConfig(AdminConfig):
    default_site = "apps.console.site.ConsoleSite"
