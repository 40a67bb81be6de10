"""What every lease promises, whoever hands it out."""

import re
from datetime import timedelta

import pytest

from tests.architecture.sources import ROOT
from tests.contracts.holders import HOLDERS, Holder
from tests.queues.conftest import execute

pytestmark = pytest.mark.django_db


@pytest.fixture(params=HOLDERS, ids=lambda kind: kind.__name__)
def holder(request, api) -> Holder:
    return request.param(api)


def test_what_is_held_is_taken_once(holder):
    holder.put(3)
    held = [holder.take(f"w{n}") for n in range(4)]
    assert held[3] is None
    assert len({holder.event(one) for one in held[:3]}) == 3


def test_what_is_finished_does_not_come_back(holder):
    holder.put(1)
    assert holder.finish(holder.take("w1"))
    holder.let_time_pass(1000)
    assert holder.take("w2") is None


def test_what_is_given_back_is_handed_out_again(holder):
    holder.put(1)
    held = holder.take("w1")
    assert holder.give_back(held)
    assert holder.event(holder.take("w2")) == holder.event(held)


def test_a_lease_is_lost_after_its_end(holder):
    holder.put(1)
    first = holder.take("w1", 60)
    assert holder.take("w2") is None
    holder.let_time_pass(61)
    assert holder.event(holder.take("w2")) == holder.event(first)


def test_it_is_not_lost_before(holder):
    holder.put(1)
    held = holder.take("w1", 60)
    holder.let_time_pass(55)
    assert holder.take("w2") is None
    assert holder.finish(held)


def test_a_stale_token_neither_extends_nor_finishes_nor_gives_back(holder):
    holder.put(1)
    stale = holder.take("w1", 60)
    holder.let_time_pass(61)
    current = holder.take("w2", 60)
    assert holder.extend(stale, 300) == 409
    assert not holder.finish(stale)
    assert not holder.give_back(stale)
    holder.let_time_pass(55)
    assert holder.take("w3") is None
    assert holder.finish(current)


def test_the_worker_that_held_it_last_is_no_exception(holder):
    holder.put(1)
    stale = holder.take("w1", 60)
    holder.let_time_pass(61)
    current = holder.take("w1", 60)
    assert not holder.finish(stale)
    assert holder.finish(current)


def test_an_extended_lease_lasts_from_now_on(holder):
    holder.put(1)
    held = holder.take("w1", 60)
    holder.let_time_pass(50)
    assert holder.extend(held, 60) == 200
    holder.let_time_pass(50)
    assert holder.take("w2") is None
    assert holder.finish(held)


def test_a_finished_lease_cannot_be_extended(holder):
    holder.put(1)
    held = holder.take("w1")
    holder.finish(held)
    assert holder.extend(held, 60) == 409


def test_finishing_twice_is_finishing_once(holder):
    holder.put(2)
    held = holder.take("w1")
    assert holder.finish(held)
    assert holder.finish(held)
    assert not holder.give_back(held)
    assert holder.event(holder.take("w2")) != holder.event(held)


def test_the_term_is_bounded(holder):
    holder.put(1)
    shortest, longest = holder.terms
    for seconds in (shortest - 1, longest + 1, -1, 10**10):
        assert holder.take_status(seconds) == 400
    held = holder.take("w1", longest)
    for seconds in (shortest - 1, longest + 1, -1, 10**10):
        assert holder.extend(held, seconds) == 400
    assert holder.extend(held, shortest) == 200
    assert holder.finish(held)


def test_the_end_is_told_by_the_databases_clock(holder):
    holder.put(1)
    ((before,),) = execute("SELECT statement_timestamp()")
    held = holder.take("w1", 60)
    ((after,),) = execute("SELECT statement_timestamp()")
    assert before <= holder.end(held) - timedelta(seconds=60) <= after


def test_no_lease_is_decided_by_the_clock_of_a_process():
    clocks = re.compile(r"\b(datetime\.now|utcnow|timezone\.now|time\.time)\(")
    asking = [
        str(path.relative_to(ROOT))
        for app in ("queues", "leases", "cursors")
        for path in (ROOT / "apps" / app).rglob("*.py")
        if "api" not in path.parts and "admin" not in path.stem and clocks.search(path.read_text())
    ]
    assert asking == []
