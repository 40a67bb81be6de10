"""Statements in one round trip: one transaction, what was prepared, and what is left of a connection after a failure."""

import threading
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection, transaction

from core import notices
from core.round_trip import Link, Query

ONE = Query("SELECT %(n)s::int AS n, '100 %%' AS text")
PAUSE = Query("SELECT pg_sleep(%(seconds)s)")
FAIL = Query("SELECT 1 / %(n)s::int")


@pytest.fixture
def link(transactional_db: None) -> Iterator[Link]:
    parameters = notices.connection_parameters(connection.get_connection_params())
    with psycopg.connect(**parameters, autocommit=True) as raw:
        yield Link(raw)


def prepared(link: Link) -> int:
    row = link.raw.execute("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'towpath%'").fetchone()
    assert row is not None
    return int(row[0])


def test_each_call_has_its_rows_and_a_command_has_none(link: Link) -> None:
    made = Query("CREATE TEMPORARY TABLE made (n int)")
    rows = Query("SELECT n FROM generate_series(1, %(n)s::int) AS n ORDER BY n")
    assert link.run([(ONE, {"n": 7}), (made, {}), (rows, {"n": 3})]) == [[(7, "100 %")], [], [(1,), (2,), (3,)]]


def test_a_statement_is_prepared_once_for_each_choice_of_types(link: Link) -> None:
    for n in (1, 2, 100_000, 100_001):  # a smallint and an integer, as psycopg sends them
        assert link.run([(ONE, {"n": n})]) == [[(n, "100 %")]]
    assert prepared(link) == 2


def test_a_value_may_come_twice_and_be_missing(link: Link) -> None:
    twice = Query("SELECT %(text)s::text || %(text)s::text, %(none)s::text IS NULL")
    assert link.run([(twice, {"text": "a", "none": None})]) == [[("aa", True)]]


def test_all_are_one_transaction_and_a_failure_undoes_it(link: Link) -> None:
    link.raw.execute("CREATE TEMPORARY TABLE kept (n int)")
    insert = Query("INSERT INTO kept VALUES (%(n)s)")
    with pytest.raises(psycopg.errors.DivisionByZero):
        link.run([(insert, {"n": 1}), (FAIL, {"n": 0}), (insert, {"n": 2})])
    link.run([(insert, {"n": 3})])
    assert link.raw.execute("SELECT array_agg(n) FROM kept").fetchone() == ([3],)


def test_what_was_not_prepared_because_another_failed_is_prepared_later(link: Link) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        link.run([(FAIL, {"n": 0}), (ONE, {"n": 1})])
    assert link.run([(ONE, {"n": 1}), (FAIL, {"n": 1})]) == [[(1, "100 %")], [(1,)]]


def test_a_value_that_cannot_be_sent_leaves_the_connection_as_it_was(link: Link) -> None:
    with pytest.raises(psycopg.ProgrammingError):
        link.run([(ONE, {"n": 1}), (ONE, {"n": object()})])
    assert link.run([(ONE, {"n": 1})]) == [[(1, "100 %")]]


def test_a_long_value_goes_and_comes_whole(link: Link) -> None:
    echo, text = Query("SELECT %(text)s::text"), "é" * 8_000_000
    assert link.run([(echo, {"text": text}), (echo, {"text": text})]) == [[(text,)], [(text,)]]


def test_a_connection_that_the_server_ends_meanwhile_says_so_and_is_closed(link: Link) -> None:
    number = link.raw.info.backend_pid

    def end() -> None:
        with psycopg.connect(**notices.connection_parameters(connection.get_connection_params()), autocommit=True) as other:
            while not other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND query LIKE '%%pg_sleep%%'",
                (number,),
            ).fetchall():
                pass

    ending = threading.Thread(target=end)
    ending.start()
    with pytest.raises(psycopg.errors.AdminShutdown):
        link.run([(PAUSE, {"seconds": 60.0})])
    ending.join()
    assert link.raw.closed


@pytest.mark.django_db(transaction=True)
def test_in_somebodys_transaction_it_is_theirs_and_what_is_prepared_outlives_their_rollback() -> None:
    connection.ensure_connection()
    link, insert = Link(connection.connection), Query("INSERT INTO kept VALUES (%(n)s)")
    link.raw.execute("CREATE TEMPORARY TABLE kept (n int)")

    def put_and_think_again() -> None:
        with transaction.atomic():
            link.run([(insert, {"n": 1})])
            transaction.set_rollback(True)

    put_and_think_again()
    before = prepared(link)
    put_and_think_again()
    with transaction.atomic():
        link.run([(insert, {"n": 2})])
    assert prepared(link) == before == 1
    assert link.raw.execute("SELECT array_agg(n) FROM kept").fetchone() == ([2],)


def test_a_name_bound_in_two_ways_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="n is bound in two ways"):
        Query("SELECT %(n)s, %(n)b")
