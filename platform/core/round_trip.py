"""Prepared statements in one round trip, straight through libpq's pipeline.

psycopg's cursors do the same for any query, and find out at each call what of ours never changes: that was half of what the
process spent on a single publish. Values are converted by psycopg's adapters all the same, errors are psycopg's.
"""

import re
import select
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq.abc import PGresult

Row = tuple[Any, ...]

_PLACEHOLDER = re.compile(r"%(?:%|\((\w+)\)([sb]))")
_FORMATS = {"s": PyFormat.AUTO, "b": PyFormat.BINARY}
_GOOD = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)
# Of the process, never twice: whoever holds a connection after another must not meet its names.
_numbers = count(1)


class Query:
    """A text with `%(name)s` and `%(name)b` (bound in binary) as the server reads it: `$1`, `$2` …"""

    def __init__(self, text: str) -> None:
        self.formats_by_name: dict[str, PyFormat] = {}
        self.sql = _PLACEHOLDER.sub(self._number, text).encode()

    def _number(self, found: re.Match[str]) -> str:
        name, kind = found.groups()
        if name is None:
            return "%"
        if self.formats_by_name.setdefault(name, _FORMATS[kind]) is not _FORMATS[kind]:
            raise ValueError(f"{name} is bound in two ways")
        return f"${list(self.formats_by_name).index(name) + 1}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self.formats_by_name)

    @cached_property
    def formats(self) -> tuple[PyFormat, ...]:
        return tuple(self.formats_by_name.values())


Call = tuple[Query, Mapping[str, Any]]


class Link:
    """One connection, and what was prepared on it."""

    def __init__(self, raw: psycopg.Connection[Row]) -> None:
        self.raw = raw
        self._server = raw.pgconn
        self._values = Transformer(raw)
        self._prepared: dict[tuple[bytes, tuple[int, ...]], bytes] = {}
        self._reading, self._writing = select.poll(), select.poll()
        self._reading.register(raw.fileno(), select.POLLIN)
        self._writing.register(raw.fileno(), select.POLLIN | select.POLLOUT)

    def run(self, calls: Sequence[Call]) -> list[list[Row]]:
        """The rows of each, all in one transaction: the implicit one, or the caller's. Raises psycopg's errors."""
        bound = [self._bind(query, values) for query, values in calls]
        self._server.enter_pipeline_mode()
        try:
            asked = self._send(bound)
            results = self._receive()
            self._server.exit_pipeline_mode()
        except BaseException:
            # Half an exchange: what comes next on this connection would be the rest of it.
            self.raw.close()
            raise
        return self._rows(asked, results)

    def _bind(self, query: Query, values: Mapping[str, Any]) -> tuple[Any, ...]:
        wanted = self._values.dump_sequence([values[name] for name in query.names], query.formats)
        return query.sql, self._values.types or (), wanted, self._values.formats

    def _send(self, bound: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...] | None]:
        """Sends all of it; returns what was asked: None for rows, else the key and the name of what is to be prepared."""
        asked: list[tuple[Any, ...] | None] = []
        if not self.raw.autocommit and self._server.transaction_status == pq.TransactionStatus.IDLE:
            self._server.send_query_params(b"BEGIN", None)
            asked.append(())
        for sql, types, values, formats in bound:
            name = self._prepared.get((sql, types))
            if name is None:
                name = b"towpath_%d" % next(_numbers)
                self._server.send_prepare(name, sql, types)
                asked.append(((sql, types), name))
            self._server.send_query_prepared(name, values, formats)
            asked.append(None)
        self._server.pipeline_sync()
        while self._server.flush():
            ((_, ready),) = self._writing.poll()
            if ready & ~select.POLLOUT:
                self._server.consume_input()
        return asked

    def _receive(self) -> list[PGresult]:
        """One result for each thing that was asked. Raises OperationalError if it hangs up, or what it said before."""
        results: list[PGresult] = []
        try:
            while True:
                while self._server.is_busy():
                    self._reading.poll()
                    self._server.consume_input()
                result = self._server.get_result()
                if result is None:  # the end of the results of one statement
                    if self._server.status == pq.ConnStatus.BAD:
                        raise psycopg.OperationalError("the connection is lost")
                elif result.status == pq.ExecStatus.PIPELINE_SYNC:
                    return results
                else:
                    results.append(result)
        except psycopg.OperationalError:
            _check(results)
            raise

    def _rows(self, asked: Sequence[tuple[Any, ...] | None], results: Sequence[PGresult]) -> list[list[Row]]:
        found = []
        for what, result in zip(asked, results, strict=True):
            _check([result])
            if what is None:
                found.append(self._read(result))
            elif what:
                self._prepared[what[0]] = what[1]
        return found

    def _read(self, result: PGresult) -> list[Row]:
        if result.status != pq.ExecStatus.TUPLES_OK:
            return []
        self._values.set_pgresult(result)
        return self._values.load_rows(0, result.ntuples, tuple)

    def is_readable(self) -> bool:
        """Whether something came that nobody asked for."""
        return bool(self._reading.poll(0))

    def forget(self) -> None:
        """Everything that was prepared is prepared again."""
        self.raw.execute("DEALLOCATE ALL")
        self._prepared.clear()


def _check(results: Sequence[PGresult]) -> None:
    for result in results:
        if result.status not in _GOOD:
            raise error_from_result(result, encoding="utf-8")
