"""What Prometheus reads from this process, and who may: names of topics and tables are nobody else's business."""

import threading
import time
from collections.abc import Mapping, Sequence
from ipaddress import ip_address

from django.conf import settings
from django.db import DatabaseError
from prometheus_client import CONTENT_TYPE_LATEST, Gauge, generate_latest

from apps.destinations.selectors.samples import LatestSample, latest
from core import sql

CONTENT_TYPE = CONTENT_TYPE_LATEST
DATABASE_SECONDS = 5.0
FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA")

OLDEST_SNAPSHOT = sql.statement(__file__, "oldest_snapshot")
LOG_FIGURES = sql.statement(__file__, "log_figures")
REPAIRS_MADE = sql.statement(__file__, "repairs")
DEAD_TUPLES = sql.statement(__file__, "dead_tuples")

OLDEST_XMIN = Gauge("towpath_oldest_xmin_seconds", "Age of the oldest transaction that keeps dead rows.")
DEAD = Gauge("towpath_dead_tuples", "Dead rows not yet removed.", ["table"])
_READER = ["kind", "topic", "name"]
LAG_EVENTS = Gauge("towpath_lag_events", "Events from the first unsettled one to the head, as last sampled.", _READER)
LAG_SECONDS = Gauge("towpath_lag_seconds", "Age of the first unsettled event, as last sampled; NaN: not known.", _READER)
IN_FLIGHT = Gauge("towpath_in_flight", "Events leased and unexpired, as last sampled.", _READER)
WAITING = Gauge("towpath_waiting", "Events to be delivered again, as last sampled.", _READER)
CAUSE = Gauge("towpath_destination_cause", "1 for the state and cause that a destination has.", [*_READER, "state", "cause"])
DEAD_LETTERS = Gauge("towpath_dead_letters", "Dead letters of a destination, counted up to 1,000.", _READER)
LAG_SAMPLED = Gauge("towpath_lag_sampled_timestamp_seconds", "When that sample was taken.", _READER)
_TOPIC = ["topic"]
HOT_RECORDS = Gauge("towpath_hot_records", "Events in the hot window.", _TOPIC)
HOT_BYTES = Gauge("towpath_hot_bytes", "Bytes in the hot window.", _TOPIC)
COLD_RECORDS = Gauge("towpath_cold_records", "Events in cold storage.", _TOPIC)
SPILL_FAILURES = Gauge("towpath_spill_failures", "Sweeps to cold storage that failed in a row.", _TOPIC)
MERGED = Gauge("towpath_merged_segments_total", "Small segments of cold storage that became part of another.", _TOPIC)
REPAIRS = Gauge("towpath_repairs_total", "What reconciles of logs put right.", ["kind"])

_lock = threading.Lock()
_looked_at = 0.0


def is_near(meta: Mapping[str, str]) -> bool:
    """From a network that settings.METRICS_NETWORKS names, and not through a proxy, whose own address says nothing."""
    if any(name in meta for name in FORWARDED):
        return False
    try:
        address = ip_address(meta.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return any(address in network for network in settings.METRICS_NETWORKS)


def exposition() -> bytes:
    global _looked_at
    with _lock:
        if time.monotonic() - _looked_at > DATABASE_SECONDS:
            _look_at_database()
            _looked_at = time.monotonic()
    return generate_latest()


def _look_at_database() -> None:
    """While the database is away its figures are missing, which is the truth; those of the process are still answered."""
    lags = (LAG_EVENTS, LAG_SECONDS, IN_FLIGHT, WAITING, CAUSE, DEAD_LETTERS, LAG_SAMPLED)
    for gauge in (DEAD, *lags, HOT_RECORDS, HOT_BYTES, COLD_RECORDS, SPILL_FAILURES, MERGED, REPAIRS):
        gauge.clear()
    try:
        ages, tables = sql.run((OLDEST_SNAPSHOT, {}), (DEAD_TUPLES, {}))
        _show_lag(latest())
        _show_logs(*sql.run((LOG_FIGURES, {}), (REPAIRS_MADE, {})))
    except DatabaseError:
        OLDEST_XMIN.set(float("nan"))
        return
    OLDEST_XMIN.set(ages[0][0])
    for table, dead in tables:
        DEAD.labels(table).set(dead)


def _show_lag(samples: Sequence[LatestSample]) -> None:
    """The same samples as the charts; a reader that is not sampled is missing rather than 0."""
    for sample in samples:
        reader = (sample.kind, sample.topic, sample.name)
        LAG_EVENTS.labels(*reader).set(sample.lag_events)
        LAG_SECONDS.labels(*reader).set(float("nan") if sample.lag_seconds is None else sample.lag_seconds)
        IN_FLIGHT.labels(*reader).set(sample.in_flight)
        WAITING.labels(*reader).set(sample.waiting)
        if sample.state is not None:  # groups have neither
            CAUSE.labels(*reader, sample.state, sample.cause).set(1)
            DEAD_LETTERS.labels(*reader).set(sample.dead)
        LAG_SAMPLED.labels(*reader).set(sample.at.timestamp())


def _show_logs(topics: Sequence[sql.Row], repairs: Sequence[sql.Row]) -> None:
    for name, *figures in topics:
        for gauge, figure in zip((HOT_RECORDS, HOT_BYTES, COLD_RECORDS, SPILL_FAILURES, MERGED), figures, strict=True):
            gauge.labels(name).set(figure)
    for kind, count in repairs:
        REPAIRS.labels(kind).set(count)
