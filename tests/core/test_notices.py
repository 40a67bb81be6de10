"""Notices: after commit, few for many, and neither a fork nor a database that is away loses the way."""

import os
import time
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection, transaction

from core import notices
from core.notices import CHANNEL, connection_parameters, parse, payloads, publish
from tests.factories import unique
from tests.patience import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)

SENDERS = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'towpath notices'"""


class Ear:
    def __init__(self, link: psycopg.Connection) -> None:
        self._link = link
        self.payloads = 0

    def hear(self, key: str, count: int, within: float = PATIENCE) -> bool:
        """Whether `count` came under `key`; other keys are passed over."""
        heard: Counter[str] = Counter()
        until = time.monotonic() + within
        while heard[key] < count and time.monotonic() < until:
            for notice in self._link.notifies(timeout=0.05, stop_after=1):
                pairs = dict(parse(notice.payload))
                self.payloads += key in pairs
                heard.update(pairs)
        return heard[key] == count


@pytest.fixture
def ear() -> Iterator[Ear]:
    with psycopg.connect(**connection_parameters(connection.get_connection_params()), autocommit=True) as link:
        link.execute(f"LISTEN {CHANNEL}")
        yield Ear(link)


def test_a_notice_comes_after_commit_and_not_after_rollback(ear: Ear) -> None:
    key = unique("topic")
    with transaction.atomic():
        publish(key, 3)
        assert not ear.hear(key, 3, within=0.1)
    assert ear.hear(key, 3)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        publish(key)
        raise ZeroDivisionError
    assert not ear.hear(key, 1, within=0.1)


def test_a_thousand_notices_travel_in_a_few_payloads_and_none_is_lost(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes within a second goes together: with the usual 5 ms a slow machine would count for much."""
    monkeypatch.setattr(notices, "COALESCE_SECONDS", 1.0)
    key = unique("topic")
    for _ in range(1000):
        publish(key)
    assert ear.hear(key, 1000)
    assert ear.payloads < 30


def test_payloads_are_short_enough_for_postgresql_and_read_back(ear: Ear) -> None:
    counts = {f"channel:{number:05}:{'x' * 100}": number + 1 for number in range(500)}
    lines = list(payloads(counts))
    assert max(map(len, lines)) < 8000
    assert dict(pair for line in lines for pair in parse(line)) == counts


def test_what_others_say_on_the_channel_is_passed_over() -> None:
    assert parse("hello =3 a=b topic:1=2 queue:1=-1 x=\u0663") == [("topic:1", 2)]


def test_a_connection_that_was_closed_is_replaced_and_nothing_lost(ear: Ear) -> None:
    key = unique("topic")
    publish(key)
    assert ear.hear(key, 1)
    with connection.cursor() as cursor:
        cursor.execute(SENDERS)
        assert cursor.fetchone()[0] >= 1
    publish(key)
    assert ear.hear(key, 1)


def test_a_forked_child_has_a_thread_and_a_connection_of_its_own(ear: Ear) -> None:
    key = unique("topic")
    publish(key)
    assert ear.hear(key, 1)
    child = os.fork()
    if child == 0:
        # Straight to the outbox: the parent's database connection is not the child's to use.
        notices._outbox.add(key, 2)
        notices.flush()
        os._exit(0)
    os.waitpid(child, 0)
    assert ear.hear(key, 2)
    publish(key, 4)
    assert ear.hear(key, 4)


@pytest.fixture
def away() -> notices._Outbox:
    """An outbox whose database cannot be reached: nobody listens on port 1."""
    parameters = {**connection.get_connection_params(), "port": "1"}
    return notices._Outbox(lambda: parameters)


def test_while_the_database_is_away_notices_wait_bounded_and_go_out_later(away: notices._Outbox, ear: Ear) -> None:
    key = unique("topic")
    away.add(key, 1)
    time.sleep(0.3)
    away.add(key, 1)
    for number in range(notices.MAX_PENDING_KEYS + 10):
        away.add(f"other:{number}", 1)
    assert len(away._pending) <= notices.MAX_PENDING_KEYS
    away._pending = Counter({key: away._pending[key]})
    away._parameters = connection.get_connection_params
    assert ear.hear(key, 2)
