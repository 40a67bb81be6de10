"""Appends that meet: no gap is ever seen, a key is stored once, and nobody pays for another's trouble."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from apps.topics.items import Item
from apps.topics.operations import held, line
from apps.topics.operations.append import Appended, append
from apps.topics.operations.create import create_topic
from apps.topics.operations.outcomes import Refused, Written
from apps.topics.records import read_records
from apps.topics.selectors import log, resolve
from tests.factories import unique
from tests.patience import PATIENCE, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def topic() -> str:
    return create_topic(None, unique("log"), 2).name


@pytest.fixture
def other() -> Iterator[psycopg.Connection[Any]]:
    """Another session of the same database, outside Django."""
    with psycopg.connect(**_parameters(), autocommit=True) as session:
        yield session


def _parameters() -> dict[str, Any]:
    parameters = connection.get_connection_params()
    return {name: parameters[name] for name in ("dbname", "user", "password", "host", "port") if parameters.get(name)}


def items(partition_key: str, *keys: str) -> list[Item]:
    return [(partition_key, key, f"{hash(key) & (1 << 127) - 1:032x}", 0, 10, None, None, None, key) for key in keys]


def side_by_side(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Runs `work` in threads of its own that start together; connections are closed."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> Any:
        try:
            barrier.wait()
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def written(appended: Appended, partition: int | None = None) -> Written:
    outcome = appended.outcomes[partition] if partition is not None else next(iter(appended.outcomes.values()))
    assert isinstance(outcome, Written), outcome
    return outcome


def test_a_key_that_eight_send_at_once_is_stored_once(topic: str) -> None:
    for attempt in range(10):
        outcomes = [
            written(appended) for appended in side_by_side(8, lambda _, n=attempt: append(topic, items("a", f"k{n}")))
        ]
        assert {outcome.offsets[0] for outcome in outcomes} == {attempt}
        assert sum(len(outcome.duplicates) for outcome in outcomes) == 7


def test_no_reader_ever_sees_a_gap_while_many_append(topic: str) -> None:
    found = resolve.topic(topic)
    done = threading.Event()
    seen: list[int] = []

    def work(number: int) -> None:
        if number:
            for batch in range(40):
                append(topic, items("a", *(f"{number}-{batch}-{n}" for n in range(number))))
            return
        while not done.is_set() or len(seen) < 40 * 21:
            page = log.page(found, 0, len(seen), 1000)
            seen.extend(event.offset for event in page.events)
            if len(seen) == 40 * 21:
                return

    try:
        side_by_side(7, work)
    finally:
        done.set()
    assert seen == list(range(40 * 21))


def test_those_who_wait_are_written_together_and_each_learns_its_own(topic: str, other: Any) -> None:
    found = resolve.topic(topic)
    hold(other, found.id, 0)
    release = threading.Timer(0.05, other.execute, ["COMMIT"])
    release.start()
    answers = side_by_side(8, lambda number: append(topic, items("a", f"{number}", "shared", f"{number}b")))
    outcomes = [written(answer) for answer in answers]
    assert sum(len(outcome.duplicates) for outcome in outcomes) == 7
    fresh = sorted(
        offset for outcome in outcomes for index, offset in enumerate(outcome.offsets) if index not in outcome.duplicates
    )
    assert fresh == list(range(17))
    bodies = {event.offset: event.body for event in log.page(found, 0, 0, 100).events}
    for number, outcome in enumerate(outcomes):
        assert [bodies[offset] for offset in outcome.offsets] == [f"{number}", "shared", f"{number}b"]


def hold(session: Any, topic_id: int, partition: int) -> None:
    """The session begins a transaction and takes the partition's row."""
    session.execute("BEGIN")
    session.execute(
        "SELECT 1 FROM topic_partition WHERE topic_id = %s AND partition = %s FOR NO KEY UPDATE", (topic_id, partition)
    )


def test_a_partition_held_by_somebody_is_busy_and_the_others_are_not(topic: str, other: Any) -> None:
    found = resolve.topic(topic)
    hold(other, found.id, 0)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'")
    both = [*items("a", "1"), *items("sku-123", "2")]
    answer = append(topic, both)
    assert {partition: type(outcome) for partition, outcome in answer.outcomes.items()} == {0: Refused, 1: Written}
    refused = answer.outcomes[0]
    assert isinstance(refused, Refused) and refused.error.code == "BUSY" and refused.load is not None
    other.execute("ROLLBACK")
    assert written(append(topic, both), 0).offsets == [0]
    assert written(append(topic, both), 1).duplicates == {0}


def waiting_for_a_lock(session: Any) -> int:
    """How many; asked by another, since within a transaction the answer would stay what it was."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return int(session.execute(query).fetchone()[0])


def test_a_held_partition_stalls_the_others_once_not_every_time(
    topic: str, other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it is remembered whoever wants it waits for it alone, and the others do not wait."""
    monkeypatch.setattr(held, "REMEMBERED_SECONDS", 3600.0)
    notice, stalls = line.notice, []
    monkeypatch.setattr(line, "notice", lambda *which: (notice(*which), stalls.append(which)))
    hold(other, resolve.topic(topic).id, 0)

    def late(number: int) -> Appended:
        try:
            return append(topic, items("a", f"{number}"))
        finally:
            connection.close()

    with psycopg.connect(**_parameters(), autocommit=True) as watcher, ThreadPoolExecutor(3) as pool:
        try:
            first = pool.submit(late, 0)
            until(lambda: stalls)
            more = [pool.submit(late, number) for number in (1, 2)]
            until(lambda: waiting_for_a_lock(watcher) == 3)
            for turn in range(5):
                assert written(append(topic, items("sku-123", f"b{turn}"))).offsets == [turn]
            assert len(stalls) == 1
        finally:
            other.execute("COMMIT")
        assert sorted(written(waiting.result()).offsets[0] for waiting in (first, *more)) == [0, 1, 2]


def test_a_publisher_that_holds_its_transaction_open_is_not_passed(topic: str, other: Any) -> None:
    found = resolve.topic(topic)
    first, looked, committed = threading.Event(), threading.Event(), threading.Event()

    def work(number: int) -> Written:
        if number == 0:
            with transaction.atomic():
                mine = written(append(topic, items("a", "first")))
                first.set()
                assert looked.wait(PATIENCE)
                until(lambda: waiting_for_a_lock(other))
                assert log.bounds(found, 0)[0].next_offset == 1
            committed.set()
            return mine
        assert first.wait(PATIENCE)
        assert log.page(found, 0, 0, 10).events == []
        looked.set()
        mine = written(append(topic, items("a", "second")))
        assert committed.is_set() or log.bounds(found, 0)[0].next_offset == 2
        return mine

    assert [outcome.offsets for outcome in side_by_side(2, work)] == [[0], [1]]
    assert [event.body for event in log.page(found, 0, 0, 10).events] == ["first", "second"]


def test_a_rolled_back_publisher_leaves_no_hole(topic: str) -> None:
    with transaction.atomic():
        append(topic, items("a", "never"))
        transaction.set_rollback(True)
    assert written(append(topic, items("a", "1"))).offsets == [0]


def test_a_poison_member_is_alone_with_its_poison(topic: str, other: Any) -> None:
    hold(other, resolve.topic(topic).id, 0)
    threading.Timer(0.05, other.execute, ["COMMIT"]).start()
    poison = [("a", "p", None, 0, 10, None, None, None, "\x00")]
    answers = side_by_side(4, lambda number: append(topic, poison if number == 2 else items("a", str(number))))
    outcomes = [next(iter(answer.outcomes.values())) for answer in answers]
    assert [type(outcome) for outcome in outcomes] == [Written, Written, Refused, Written]
    assert isinstance(outcomes[2], Refused) and outcomes[2].error.code == "INVALID_FIELD"
    assert sorted(outcome.offsets[0] for outcome in outcomes if isinstance(outcome, Written)) == [0, 1, 2]


def test_a_connection_lost_before_the_commit_is_known_is_uncertain(topic: str, other: Any) -> None:
    found = resolve.topic(topic)
    hold(other, found.id, 0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        mine = cursor.fetchone()[0]
    with psycopg.connect(**_parameters(), autocommit=True) as killer, ThreadPoolExecutor(1) as pool:
        pool.submit(kill_when_it_waits, killer, mine)
        refused = append(topic, items("a", "1")).outcomes[0]
    assert isinstance(refused, Refused) and refused.error.code == "UNCERTAIN"
    other.execute("ROLLBACK")
    connection.close()
    assert written(append(topic, items("a", "1"))).offsets == [0]


def kill_when_it_waits(session: Any, pid: int) -> None:
    until(lambda: waiting_for_a_lock(session))
    session.execute("SELECT pg_terminate_backend(%s)", (pid,))


def test_a_connection_that_died_unused_is_made_anew_and_nothing_is_uncertain(topic: str, other: Any) -> None:
    append(topic, items("a", "1"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        mine = cursor.fetchone()[0]
    other.execute("SELECT pg_terminate_backend(%s, 60000)", (mine,))
    assert written(append(topic, items("a", "2"))).offsets == [1]


def test_the_first_use_by_eight_at_once_makes_one_topic() -> None:
    name = unique("new")
    answers = side_by_side(8, lambda number: append(name, items("a", str(number))))
    assert sorted(written(answer).offsets[0] for answer in answers) == list(range(8))


def test_a_topic_deleted_and_made_again_elsewhere_is_found_again(topic: str, other: Any) -> None:
    append(topic, items("a", "1"))
    stale = resolve.topic(topic).id
    other.execute("DELETE FROM topic_partition WHERE topic_id = %s", (stale,))
    other.execute("DELETE FROM topic WHERE id = %s", (stale,))
    appended = append(topic, items("a", "1"))
    assert (appended.topic.id != stale, written(appended).offsets) == (True, [0])


def test_it_leaves_no_dead_versions_of_rows_which_an_old_snapshot_would_keep_in_its_way(topic: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        for number in range(20):
            append(topic, items("a", f"{number}"))
        cursor.execute(
            "SELECT sum(n_tup_ins), sum(n_tup_upd + n_tup_del) FROM pg_stat_xact_user_tables"
            " WHERE relname ~ '^(event|dedup|topic)'"
        )
        inserted, dead = cursor.fetchone()
    assert inserted >= 20 and dead == 0


def test_times_never_go_back_within_a_partition(topic: str, other: Any) -> None:
    append(topic, items("a", "1"))
    other.execute("UPDATE event SET appended_at = appended_at + interval '1 hour'")
    append(topic, items("a", "2"))
    first, second = log.page(resolve.topic(topic), 0, 0, 10).events
    assert second.appended_at == first.appended_at


def test_records_read_as_text_are_the_same_items() -> None:
    quick = read_records(b'[{"partitionKey":"a","payload":"x","key":"k"}]')
    exact = read_records(b'[{"partitionKey":"a","payload":"\\u0078","key":"k"} ]')
    assert [item[:4] + item[5:] for item in quick] == [item[:4] + item[5:] for item in exact]
