"""Plain WSGI: everything works, without waits and live streams (those need the gateway)."""

import os

from django.core.wsgi import get_wsgi_application

from apps.destinations.operations.sight import tell_sightings_regularly

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
tell_sightings_regularly()
