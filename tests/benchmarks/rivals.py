"""Queues on PostgreSQL that are driven alike: enqueue, and take and finish, one by one or a hundred at a time.

Each driver lives in a process of its own with one connection. Rivals come from PyPI: `pip install -e '.[benchmarks]'`; one
that is not installed is left out.
"""

import asyncio
import importlib
import importlib.util
import os
from collections.abc import Callable
from datetime import timedelta
from types import ModuleType
from typing import Any
from uuid import uuid4

import psycopg

from tests.benchmarks import place

PAYLOAD = '{"to": "somebody@example.org", "subject": "' + "x" * 250 + '"}'


def installed(name: str) -> ModuleType | None:
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


class Towpath:
    """The operations as the API calls them, without HTTP."""

    def __init__(self, url: str) -> None:
        os.environ["DATABASE_URL"] = url
        django = importlib.import_module("django")
        django.setup()
        self._selectors = importlib.import_module("apps.queues.selectors")
        self._enqueue = importlib.import_module("apps.queues.operations.enqueue")
        self._claim = importlib.import_module("apps.queues.operations.claim")
        self._settle = importlib.import_module("apps.queues.operations.settle")
        self._queue = self._selectors.find_queue("bench")

    @staticmethod
    def install(url: str) -> None:
        make = "from apps.queues.operations.queues import create; create(None, 'bench')"
        place.python(url, "-c", f"import django; django.setup(); {make}")

    def enqueue(self, count: int) -> int:
        self._enqueue.enqueue(self._queue, [self._enqueue.NewEvent(PAYLOAD) for _ in range(count)])
        return count

    def take(self, count: int) -> int:
        claims = self._claim.claim(self._queue, limit=count)
        if count > 1:
            self._settle.acknowledge_several(self._queue.id, [(claim.id, claim.token.secret) for claim in claims])
        else:
            for claim in claims:
                self._settle.acknowledge(claim.id, claim.token)
        return len(claims)

    def close(self) -> None:
        importlib.import_module("django.db").connection.close()


class Procrastinate:
    """Fetches one job at a time, as its workers do."""

    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        procrastinate: Any = installed("procrastinate")
        connector = procrastinate.PsycopgConnector(conninfo=url, min_size=1, max_size=1)
        self._app = procrastinate.App(connector=connector)
        self._jobs, self._manager = procrastinate.jobs, self._app.job_manager
        self._loop.run_until_complete(self._app.open_async())
        self._worker = self._loop.run_until_complete(self._manager.register_worker())

    @staticmethod
    def install(url: str) -> None:
        schema: Any = importlib.import_module("procrastinate.schema")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(schema.SchemaManager.get_schema())

    def enqueue(self, count: int) -> int:
        make = lambda: self._jobs.Job(  # noqa: E731
            queue="bench", lock=None, queueing_lock=None, task_name="bench", task_kwargs={"payload": PAYLOAD}
        )
        self._loop.run_until_complete(self._manager.batch_defer_jobs_async([make() for _ in range(count)]))
        return count

    def take(self, count: int) -> int:
        async def each() -> int:
            done = 0
            for _ in range(count):
                job = await self._manager.fetch_job(["bench"], self._worker)
                if job is None:
                    break
                await self._manager.finish_job(job, self._jobs.Status.SUCCEEDED, delete_job=True)
                done += 1
            return done

        return self._loop.run_until_complete(each())

    def close(self) -> None:
        self._loop.run_until_complete(self._app.close_async())


class PgQueuer:
    def __init__(self, url: str) -> None:
        self._loop = asyncio.new_event_loop()
        queries, drivers = importlib.import_module("pgqueuer.queries"), importlib.import_module("pgqueuer.db")
        self._parameters = queries.EntrypointExecutionParameter

        async def connect() -> Any:
            return await psycopg.AsyncConnection.connect(url, autocommit=True)

        self._connection = self._loop.run_until_complete(connect())
        self._queries = queries.Queries(drivers.PsycopgDriver(self._connection))
        self._me = uuid4()

    @staticmethod
    def install(url: str) -> None:
        driver = PgQueuer(url)
        driver._loop.run_until_complete(driver._queries.install())
        driver.close()

    def enqueue(self, count: int) -> int:
        names, payloads = ["bench"] * count, [PAYLOAD.encode()] * count
        self._loop.run_until_complete(self._queries.enqueue(names, payloads, [0] * count))
        return count

    def take(self, count: int) -> int:
        async def batch() -> int:
            jobs = await self._queries.dequeue(
                count, {"bench": self._parameters(concurrency_limit=0)}, self._me, None, timedelta(seconds=60)
            )
            await self._queries.log_jobs([(job, "successful", None) for job in jobs])
            return len(jobs)

        return self._loop.run_until_complete(batch())

    def close(self) -> None:
        self._loop.run_until_complete(self._connection.close())


def drivers() -> dict[str, Callable[[str], Any]]:
    found: dict[str, Callable[[str], Any]] = {"Towpath": Towpath}
    if installed("procrastinate") and installed("psycopg_pool"):
        found["procrastinate"] = Procrastinate
    if installed("pgqueuer"):
        found["pgqueuer"] = PgQueuer
    return found
