"""The scopes of an OAuth client are those of its own row (by default any client could have every scope)."""

from typing import Any

from oauth2_provider.scopes import BaseScopes

from apps.access.models import OAuthClient
from apps.access.scopes import SCOPES


class ApplicationScopes(BaseScopes):
    def get_all_scopes(self) -> dict[str, str]:
        return {scope: scope for scope in SCOPES}

    def get_available_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        client = OAuthClient.objects.filter(application=application, disabled_at__isnull=True).first()
        return [grant["scope"] for grant in client.grants] if client else []

    def get_default_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        """Who asks for no scope is granted none."""
        return []
