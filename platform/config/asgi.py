"""The gateway around Django: what `python -m gateway.server` (or any ASGI server) serves."""

import os

import django
from django.conf import settings

from apps.destinations.operations.sight import tell_sightings_regularly
from core import secret_key
from gateway.application import Gateway
from gateway.limits import from_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)
secret_key.require()
tell_sightings_regularly()
application = Gateway(from_settings(), settings.MIDDLEWARE, settings.API_MIDDLEWARE, settings.READABLE_LOG)
