import threading
from datetime import timedelta

import pytest
from django.db import connection, connections

from core import partitions
from core.exclusive import alone

pytestmark = pytest.mark.django_db


@pytest.fixture
def table():
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE diary (owner int, at timestamptz, text text, PRIMARY KEY (owner, at)) PARTITION BY RANGE (at)"
        )
        cursor.execute("CREATE TABLE diary_default PARTITION OF diary DEFAULT")
    return "diary"


def sql(text, *values):
    with connection.cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall() if cursor.description else []


def test_it_makes_today_and_thirty_days_ahead_once(table):
    assert partitions.roll_table(table, 2) == 31
    assert partitions.roll_table(table, 2) == 0
    assert sorted(partitions.days(table))[-1] - sorted(partitions.days(table))[0] == timedelta(days=30)


def test_rows_that_waited_in_the_default_partition_move_to_their_day(table):
    sql("INSERT INTO diary VALUES (1, statement_timestamp(), 'late')")
    partitions.roll_table(table, 2)
    assert sql("SELECT count(*) FROM diary_default") == [(0,)]
    assert sql("SELECT text FROM diary") == [("late",)]


def test_it_drops_days_that_are_too_old_and_their_rows_in_the_default_partition(table):
    today = partitions._today()
    old, kept = today - timedelta(days=3), today - timedelta(days=2)
    partitions._make(table, old)
    partitions._make(table, kept)
    sql(
        "INSERT INTO diary VALUES (1, %s, 'old'), (1, %s, 'kept'), (1, %s, 'ancient')", old, kept, today - timedelta(days=90)
    )
    partitions.roll_table(table, 2)
    assert sql("SELECT text FROM diary") == [("kept",)]
    assert old not in partitions.days(table)
    assert kept in partitions.days(table)


def test_a_table_that_does_not_exist_yet_is_skipped():
    assert partitions.roll_table("no_such_table", 2) == 0


@pytest.mark.django_db(transaction=True)
def test_only_one_is_alone_and_the_lock_ends_with_the_transaction():
    seen = []

    def other():
        with alone("diary") as is_alone:
            seen.append(is_alone)
        connections.close_all()

    def run_other():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    with alone("diary") as is_alone:
        run_other()
    run_other()
    assert (is_alone, seen) == (True, [False, True])
    assert sql(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())"
    ) == [(0,)]
