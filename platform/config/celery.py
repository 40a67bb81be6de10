"""The Celery application: tasks are doors that call one operation each."""

import os
import sys
from typing import Any

from celery import Celery, signals
from django.core.exceptions import ImproperlyConfigured

from config.schedule import SCHEDULE
from core import secret_key

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("towpath")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = SCHEDULE
app.autodiscover_tasks()


@signals.celeryd_init.connect
@signals.beat_init.connect
def require_secret_key(**told: Any) -> None:
    try:
        secret_key.require()
    except ImproperlyConfigured as error:
        # Celery only logs what a receiver raises, unless it ends the process.
        sys.exit(str(error))


@signals.beat_init.connect
def prove_at_once(sender: Any, **told: Any) -> None:
    """A new schedule would do it only after a whole interval, and until then nobody is ready."""
    app.send_task("console.prove_beat", producer=sender.scheduler.producer, expires=30)
