"""Toy views that do on purpose what the tests need: hold a thread, wait for work, stream."""

import sys
import threading
import time
from collections import defaultdict
from typing import Any

from django.db import connection, transaction
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from prometheus_client import generate_latest
from rest_framework.views import APIView

from core import http, notices
from core.streams import Link, Stream, stream_from
from core.waits import AGAIN_KEY, Wait, tell_there_is_more, wait_for
from tests.patience import until

TAKE = """DELETE FROM toy_work WHERE id IN (
    SELECT id FROM toy_work WHERE key = %s AND due <= statement_timestamp() ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
) RETURNING id"""
DUE_IN = "SELECT extract(epoch FROM min(due) - statement_timestamp())::float FROM toy_work WHERE key = %s"


def echo(request: HttpRequest) -> HttpResponse:
    return JsonResponse(
        {
            "length": len(request.body),
            "headers": dict(request.headers),
            "path": request.path,
            "query": request.META["QUERY_STRING"],
        }
    )


_released: defaultdict[str, threading.Event] = defaultdict(threading.Event)


def hold(request: HttpRequest) -> HttpResponse:
    """Keeps its thread until the key is released, or for so many seconds; tells of itself before."""
    _call(request.GET["key"])
    _released[request.GET["key"]].wait(float(request.GET.get("seconds", "300")))
    return HttpResponse("held")


def release(request: HttpRequest) -> HttpResponse:
    _released[request.GET["key"]].set()
    return http.no_content(request)


def asleep(request: HttpRequest) -> HttpResponse:
    groups = list(_hub()._by_key.get(f"toy:{request.GET['key']}", ()))
    return HttpResponse(str(sum(len(group.waiters) for group in groups)))


def metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse(generate_latest())


def _hub() -> Any:
    return sys.modules["config.asgi"].application.hub


def _call(key: str, again: bool = False) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO toy_call (key, again) VALUES (%s, %s)", [key, again])


def lock_timeout(request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        return HttpResponse(cursor.fetchone()[0])


def take(request: HttpRequest) -> HttpResponse:
    """Takes work of a key, or waits for it. `gap=1` commits work after this view has looked and before the wait begins."""
    key, limit, again = request.GET["key"], int(request.GET.get("limit", "1")), AGAIN_KEY in request.META
    began = time.monotonic()
    with transaction.atomic(), connection.cursor() as cursor:
        _call(key, again)
        cursor.execute(TAKE, [key, limit])
        taken = [row[0] for row in cursor.fetchall()]
        cursor.execute(DUE_IN, [key])
        due_in = cursor.fetchone()[0]
    if taken:
        if request.GET.get("tell") and due_in is not None:
            tell_there_is_more(request)
        return http.answer(request, {"taken": taken})
    if request.GET.get("gap") and not again:
        add(key)
        until(lambda: _hub().noticed_since((f"toy:{key}",), began))
    wait_for(request, Wait((f"toy:{key}",), float(request.GET["seconds"]), due_in, request.GET.get("group", "")))
    return http.no_content(request)


def add(key: str, count: int = 1) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO toy_work (key) SELECT %s FROM generate_series(1, %s)", [key, count])
    notices.publish(f"toy:{key}", count)


def work(request: HttpRequest) -> HttpResponse:
    add(request.GET["key"], int(request.GET.get("count", "1")))
    return http.no_content(request)


class Guarded(APIView):
    scopes = {"POST": "read:queues"}

    def post(self, request: HttpRequest) -> HttpResponse:
        return take(request._request)  # type: ignore[attr-defined]


def live(request: HttpRequest) -> HttpResponse:
    key = request.GET["key"]

    async def run(link: Link) -> None:
        subscription = link.subscribe(f"toy:{key}")
        await link.send(b": joined\n\n")
        while True:
            await subscription.next(15)
            total = await link.call(_count, key)
            await link.send(f"data: {total}\n\n".encode())

    stream_from(request, Stream(run))
    return HttpResponse(content_type="text/event-stream")


def flood(request: HttpRequest) -> HttpResponse:
    async def run(link: Link) -> None:
        while True:
            await link.send(b": " + b"x" * 65_536 + b"\n\n")

    stream_from(request, Stream(run))
    return HttpResponse(content_type="text/event-stream")


def _count(key: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM toy_work WHERE key = %s", [key])
        return int(cursor.fetchone()[0])


def download(request: HttpRequest) -> HttpResponse:
    return StreamingHttpResponse(b"x" * 65_536 for _ in range(int(request.GET["blocks"])))


def source(request: HttpRequest) -> HttpResponse:
    return FileResponse(open(__file__, "rb"))


def crash(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a fault in a view")


urlpatterns = [
    path("v1/hot/echo", echo),
    path("v1/hot/hold", hold),
    path("v1/hot/release", release),
    path("v1/hot/metrics", metrics),
    path("v1/hot/take", take),
    path("v1/hot/guarded", Guarded.as_view()),
    path("v1/hot/lock-timeout", lock_timeout),
    path("v1/slow/echo", echo),
    path("v1/slow/hold", hold),
    path("v1/slow/release", release),
    path("v1/slow/metrics", metrics),
    path("v1/slow/asleep", asleep),
    path("v1/slow/lock-timeout", lock_timeout),
    path("v1/work", work),
    path("v1/live", live),
    path("v1/flood", flood),
    path("v1/download", download),
    path("v1/source", source),
    path("v1/crash", crash),
    path("v1/event-queues/crash", crash),
    path("page", echo),
]
handler400 = "core.http.bad_request"
handler404 = "core.http.page_not_found"
handler500 = "core.http.server_error"
