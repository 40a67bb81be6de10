"""Plain WSGI: everything works, without waits and live streams (those need the gateway)."""

import os

from django.core.wsgi import get_wsgi_application

from apps.destinations.operations.sight import tell_sightings_regularly
from core import secret_key

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
secret_key.require()
tell_sightings_regularly()
