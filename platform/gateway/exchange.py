"""One request from its first byte to its last: body, thread, waits, answer, and one line in the access log."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from core import errors, http, streams, waits
from core.log import PRINCIPAL_KEY, REQUEST_ID
from core.metrics import HTTP_REQUESTS, HTTP_SECONDS, REFUSED
from gateway import bodies, dispatch, environ
from gateway.bodies import ClientGone
from gateway.dispatch import Answer, HeaderList
from gateway.lanes import Lane

if TYPE_CHECKING:
    from gateway.application import Gateway

Send = Callable[[dict[str, Any]], Awaitable[None]]
JSON = (b"content-type", b"application/json")

logger = logging.getLogger(__name__)


class Exchange:
    def __init__(self, gateway: "Gateway", scope: dict[str, Any], receive: bodies.Receive, send: Send) -> None:
        self.gateway, self.scope, self.receive, self._send = gateway, scope, receive, send
        self.began = time.monotonic()
        self.path = environ.path_of(scope)
        self.call_name = f"{scope['method']} {self.path}"
        self.request_id = http.sane_request_id(environ.header(scope["headers"], b"x-request-id"))
        self.body = bodies.Body(receive, scope, gateway.limits.max_body_bytes, gateway.budget)
        self.environ: environ.Environ = {}
        self._gone: asyncio.Future[None] | None = None
        self.status = 0
        self.waited = 0.0
        self.begun = False

    async def run(self) -> None:
        token = REQUEST_ID.set(self.request_id)
        try:
            await self._serve()
        except errors.DomainError as error:
            await self.refuse(error)
        except ClientGone:
            self.status = self.status or 499
        except Exception:
            logger.exception("gateway.failed", extra={"path": self.path})
            await self.refuse(http.InternalError())
        finally:
            self._stop_watching()
            self.body.release()
            REQUEST_ID.reset(token)
            self._account()
        await self.body.discard()

    async def _serve(self) -> None:
        if self.path == "/healthz":
            return await self._say_alive()
        body = await self.body.read(self.gateway.deadlines.within(self.gateway.limits.body_seconds))
        self.environ = environ.build(self.scope, body)
        del body  # only the environ holds it
        self.environ[http.REQUEST_ID_KEY] = self.request_id
        answer = await self.call()
        wait: waits.Wait | None = self.environ.pop(waits.ENVIRON_KEY, None)
        if wait is not None and wait.seconds > 0 and self._keep_little():
            answer = await self.gateway.wait(self, wait, answer)
        del self.environ["wsgi.input"]
        self.body.release()
        if stream := self.environ.pop(streams.ENVIRON_KEY, None):
            return await self.gateway.stream(self, stream, answer)
        await self.answer(answer)

    async def _say_alive(self) -> None:
        if self.scope["method"] in ("GET", "HEAD"):
            return await self.answer(Answer(200, [JSON], b'{"status":"ok"}', self.began))
        body = http.error_body(self.path, self.request_id, errors.MethodNotAllowed())
        await self.answer(Answer(405, [JSON, (b"allow", b"GET, HEAD")], body, self.began))

    def _keep_little(self) -> bool:
        """A wait holds no large body: JSON that its view has read is kept without the space in it. False if that is much."""
        body = self.environ["wsgi.input"].getvalue()
        if len(body) > self.gateway.limits.kept_body_bytes:
            try:
                body = orjson.dumps(orjson.loads(body))
            except ValueError:
                return False
            environ.put_body(self.environ, body)
        self.body.release()
        return len(body) <= self.gateway.limits.kept_body_bytes

    async def call(self) -> Answer:
        """Calls the view in a thread of its lane. Raises Busy, ClientGone, or what _no_answer says if it takes too long."""
        push = partial(self._push, asyncio.get_running_loop())
        work = partial(dispatch.call, self.gateway.django(self.path), self.environ, push)
        joining = self.gateway.limits.is_joining(self.call_name)
        if joining:
            self.gateway.check_streams(self.lane.patient.held)
        self._patience = self.gateway.deadlines.within(self.gateway.limits.answer_seconds(self.call_name))
        try:
            with self._patience:
                return await self.lane.run(work, joining, self.leaving)
        except TimeoutError:
            if not self._patience.expired:
                raise
            raise self._no_answer() from None

    def _no_answer(self) -> errors.DomainError:
        """The thread is still at it, so what changes something may have happened, or may yet."""
        REFUSED.labels("unanswered").inc()
        if self.scope["method"] in ("GET", "HEAD"):
            return errors.Unavailable("This could not be read in time; try again.")
        return errors.Uncertain("Whether this was done cannot be known; try again, with the same keys.")

    def rewind(self) -> None:
        """The same request once more: the view reads the body from its start."""
        self.environ["wsgi.input"].seek(0)

    @property
    def lane(self) -> Lane:
        return self.gateway.lane(self.call_name)

    async def answer(self, answer: Answer) -> None:
        self._stop_watching()
        if not answer.pushed:
            await self.begin(answer.status, answer.headers, len(answer.body))
        body = b"" if self.scope["method"] == "HEAD" else answer.body
        await self._send({"type": "http.response.body", "body": body})

    async def begin(self, status: int, headers: HeaderList, length: int | None = None) -> None:
        """Sends status and headers, with the request's id and, where it is known, the length."""
        self.begun, self.status = True, status
        names = {name for name, _ in headers}
        if b"x-request-id" not in names:
            headers = [*headers, (b"x-request-id", self.request_id.encode())]
        if length is not None and b"content-length" not in names and status not in (204, 304):
            headers = [*headers, (b"content-length", str(length).encode())]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def send_chunk(self, chunk: bytes, more: bool = True) -> None:
        """Raises TimeoutError when the client does not take it in time."""
        async with asyncio.timeout(self.gateway.limits.send_seconds):
            await self._send({"type": "http.response.body", "body": chunk, "more_body": more})

    async def pass_on(self, chunk: bytes) -> None:
        """As send_chunk, for whoever looks at the time himself."""
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def refuse(self, error: errors.DomainError) -> None:
        if self.begun:
            return  # the answer is half out: nothing better can be said
        body = http.error_body(self.path, self.request_id, error)
        headers = [(name.lower().encode(), value.encode()) for name, value in http.error_headers(error).items()]
        if isinstance(error, errors.TooLarge):
            REFUSED.labels("body").inc()
        if self.body.is_pending:
            headers.append((b"connection", b"close"))
        await self.answer(Answer(http.status_of(error), [JSON, *headers], body, self.began))

    def leaving(self) -> "asyncio.Future[None]":
        """Done when the client has gone (granian says so only after the body was read to its end)."""
        if self._gone is None:
            self._gone = asyncio.ensure_future(self._disconnected())
        return self._gone

    async def _disconnected(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def _stop_watching(self) -> None:
        if self._gone is not None:
            self._gone.cancel()

    def _push(self, loop: asyncio.AbstractEventLoop, status: int, headers: HeaderList, chunk: bytes) -> None:
        asyncio.run_coroutine_threadsafe(self._push_chunk(status, headers, chunk), loop).result()

    async def _push_chunk(self, status: int, headers: HeaderList, chunk: bytes) -> None:
        if not self.begun:
            self._patience.lift()  # from here on it is the client that takes its time
            await self.begin(status, headers)
        if self.scope["method"] != "HEAD":
            await self.send_chunk(chunk)

    def _account(self) -> None:
        took = time.monotonic() - self.began - self.waited
        route = self.environ.get(dispatch.ROUTE_KEY, "/healthz" if self.path == "/healthz" else "(none)")
        _counter(route, self.status).inc()
        _histogram(route).observe(took)
        if self.gateway.limits.access_log:
            self.gateway.access.info(
                "request",
                request_id=self.request_id,
                method=self.scope["method"],
                path=self.path.partition("?")[0],  # without a query, also an encoded one: it may hold ?grant=
                status=self.status,
                ms=round(took * 1000, 1),
                waited_ms=round(self.waited * 1000, 1),
                principal=self.environ.get(PRINCIPAL_KEY),
            )


_counters: dict[tuple[str, int], Any] = {}
_histograms: dict[str, Any] = {}


def _counter(route: str, status: int) -> Any:
    # labels() takes a lock and a join each time; routes and statuses are few.
    found = _counters.get((route, status))
    if found is None:
        found = _counters[(route, status)] = HTTP_REQUESTS.labels(route, str(status))
    return found


def _histogram(route: str) -> Any:
    found = _histograms.get(route)
    if found is None:
        found = _histograms[route] = HTTP_SECONDS.labels(route)
    return found
