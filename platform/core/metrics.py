"""What this process counts for /metrics. Each figure is named here once, so that no two places count the same thing."""

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

# When each was first counted: a line more for every line, and nobody reads it.
disable_created_metrics()  # type: ignore[no-untyped-call]

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

HTTP_REQUESTS = Counter("towpath_http_requests", "Answered requests.", ["route", "status"])
HTTP_SECONDS = Histogram(
    "towpath_http_request_seconds", "Time to answer, without the time waited.", ["route"], buckets=_FAST
)
REFUSED = Counter("towpath_refused", "Requests refused before they reached a view.", ["reason"])
POOL_BUSY = Gauge("towpath_pool_busy", "Threads at work.", ["lane"])
POOL_QUEUE = Gauge("towpath_pool_queue", "Requests waiting for a thread.", ["lane"])
WAITERS = Gauge("towpath_waiters", "Requests that wait for work.")
WAKES = Counter("towpath_wakes", "Waiting requests called again, by what woke them.", ["reason"])
STREAMS = Gauge("towpath_streams", "Open live streams.")
LIVE_READS = Counter("towpath_live_reads", "Reads of channels for live streams: one for each notice, whoever many follow.")
LISTEN_UP = Gauge("towpath_listen_up", "1 while the wake-up listener is connected and proved itself.")
NOTIFY_ROUND_TRIP = Histogram("towpath_notify_round_trip_seconds", "NOTIFY to the arrival of the notice.", buckets=_FAST)
NOTICES_SENT = Counter("towpath_notices_sent", "NOTIFY payloads sent.")
NOTICES_LOST = Counter("towpath_notices_lost", "Keys whose notice was given up while the database was away.")

APPENDS = Counter("towpath_appends", "Events and records offered to topics.", ["outcome"])
APPEND_SECONDS = Histogram("towpath_append_seconds", "Time of one append, commit included.", buckets=_FAST)
