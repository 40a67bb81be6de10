"""What serves signs sessions and grants for all processes: it starts only with the SECRET_KEY of the installation."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

# Django's own mark for a key that is none: `check --deploy` warns of it.
MADE_UP = "django-insecure-made-up-"

MISSING = (
    "SECRET_KEY is not set. It signs sessions and grants, and every process of an installation needs the same one (the start"
    " command `manage.py up` keeps one in its home). Make one with"
    " `python -c 'import secrets; print(secrets.token_urlsafe(50))'` and set it in the environment of every process."
)


def require() -> None:
    if settings.SECRET_KEY.startswith(MADE_UP) and not settings.DEBUG:
        raise ImproperlyConfigured(MISSING)
