"""What the page of one destination shows: where it stands and why, how it got there, who holds what, what was done to it."""

from typing import Any

from django.http import HttpRequest

from apps.access.models import Audit
from apps.destinations.admin import cells, letters, pausing, pushes, seeking, sending, tending
from apps.destinations.models import Destination, Type
from apps.destinations.selectors.trend import trends, workers
from apps.leases.selectors import leases
from core.admin import may

LEASES_SHOWN, WORKERS_SHOWN, AUDIT_SHOWN = 50, 20, 20
# What the chart shows: seconds back, and seconds a point.
SPANS = {"1h": (3_600, 60), "24h": (86_400, 600), "7d": (604_800, 3_600)}


def shown(request: HttpRequest, row: Destination) -> dict[str, Any]:
    key = (row.topic_id, row.consumer_id)
    span = request.GET.get("span", "1h") if request.GET.get("span") in SPANS else "1h"
    seconds, step = SPANS[span]
    history = trends([key], seconds, step).get(key)
    steps = history.steps if history else ()
    audit = Audit.objects.filter(object_kind__in=("destination", "lease", "dead-letter"), object_name=row.name).order_by(
        "-id"
    )
    return {
        "destination": row,
        "stands": cells.rows([row]).get(row.pk),
        "leases": leases(*key, limit=LEASES_SHOWN + 1),
        "leases_shown": LEASES_SHOWN,
        "workers": workers(*key, limit=WORKERS_SHOWN),
        "audit": audit[:AUDIT_SHOWN],
        "span": span,
        "spans": list(SPANS),
        "lag_events": [(point.at, float(point.lag_events)) for point in steps],
        "lag_seconds": [(point.at, point.lag_seconds) for point in steps],
        "may_pause": may(request, pausing.PAUSE),
        "may_settle": may(request, tending.SETTLE),
        "may_seek": may(request, seeking.SEEK),
        "letters": letters.letters(row),
        "letters_shown": letters.SHOWN,
        "may_redrive": may(request, letters.REDRIVE),
        "may_discard": may(request, letters.DISCARD),
        **(_pushed(request, row) if row.type != Type.DURABLE_CONSUMER else {}),
    }


def _pushed(request: HttpRequest, row: Destination) -> dict[str, Any]:
    """Where it pushes to and how that goes; secrets are on no page."""
    return {
        "target": pushes.facts(row.settings.get(row.type.lower(), {})),
        "push": sending.push_state(row),
        "attempts": sending.shown_attempts(row) if row.type == Type.WEBHOOK else [],
        "may_test": may(request, sending.TEST),
        "may_read": may(request, "console.view_payloads"),
    }
