"""Two beats, two workers, the same sweep at once: effects once, and who does not get the lock skips."""

import threading

import pytest
from django.db import connection, connections

from apps.destinations.operations.sample import sample_lag, thin_samples
from apps.destinations.selectors import find
from apps.leases.operations.tidy import expire_leases
from core.exclusive import alone
from core.partitions import roll
from tests.destinations.world import age_leases, make, publish, pull, sql
from tests.factories import Api, api_key

pytestmark = pytest.mark.django_db(transaction=True)

ADVISORY_LOCKS = """FROM pg_locks WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def at_once(work, times=2):
    """The results of several threads, each on its own connection, that start together."""
    results, start = [], threading.Barrier(times)

    def run():
        start.wait()
        try:
            results.append(work())
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def thing():
    find.forget_found()
    api = Api(api_key())
    found = make(api)
    publish(api, found["topic"], 6)
    for worker in "abc":
        pull(api, found["name"], limit=2, workerId=worker)
    return found


def test_a_lease_that_ran_out_is_noted_once(thing):
    age_leases(61)
    assert sum(at_once(expire_leases, times=4)) == 3
    assert sql("SELECT count(*) FROM lease WHERE state = 'expired'") == [(3,)]
    assert sum(at_once(expire_leases)) == 0


def test_a_sample_is_taken_once(thing):
    sql("TRUNCATE lag_sample")
    at_once(sample_lag, times=4)
    # More than one only when the clock passed a multiple of 15 s meanwhile.
    assert sql("SELECT count(*) = count(DISTINCT at) AND count(*) <= 2 FROM lag_sample") == [(True,)]


def test_partitions_are_made_once():
    roll()
    sql("DROP TABLE IF EXISTS " + ", ".join(name for (name,) in sql(
        "SELECT relname FROM pg_class WHERE relname ~ '^(settled|lag_sample)_2' AND relkind = 'r'")))  # fmt: skip
    assert sum(at_once(roll, times=4)) == 62
    assert sum(at_once(roll)) == 0


@pytest.mark.parametrize(("name", "work"), [("destinations.sample", sample_lag), ("destinations.thin", thin_samples)])
def test_who_does_not_get_the_lock_skips(thing, name, work):
    with alone(name) as is_alone:
        assert is_alone
        assert at_once(work) == [0, 0]


def test_the_lock_is_on_the_connection_that_works_and_goes_with_it(thing):
    with alone("destinations.sample"):
        holders = sql(f"SELECT pid {ADVISORY_LOCKS} AND granted")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            assert holders == cursor.fetchall()
    assert sql(f"SELECT count(*) {ADVISORY_LOCKS}") == [(0,)]
