"""The lease machine against a small model: random pulls, acknowledgements, failures, expiries, extends and pauses.

The model is told what happened to several workers, not how. After each step the invariants must hold of the database.
"""

import os
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from apps.cursors import operations as cursors
from apps.leases.errors import DestinationPaused, WindowFull
from apps.leases.operations import tidy
from apps.leases.operations.acknowledge import extend
from apps.leases.operations.pull import Lease, Nothing
from core.errors import LeaseLost
from tests.logs import Log, sql

SCALE = float(os.environ.get("TOWPATH_TEST_SCALE", "1"))
WORKERS = ["", "w1", "w2", "w3", "w4"]
PARTITIONS = 2

workers = st.sampled_from(WORKERS)
limits = st.integers(1, 4)
parts = st.sampled_from([None, 0, 1])  # which half of a batch fails, if not all of it


@dataclass
class Held:
    """What the model knows of a lease: its events, and of each generation what was said about it."""

    partition: int
    offsets: list[int]
    worker: str
    generation: int = 0
    attempt: int = 1
    state: str = "leased"  # or expired, waiting, delayed
    said: dict[int, str] = field(default_factory=dict)

    def is_out(self) -> bool:
        return self.state == "leased"


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.log = Log.make(PARTITIONS)
        self.live: dict[object, Held] = {}
        self.past: dict[object, Held] = {}
        self.handed: list[Lease] = []
        self.settled: dict[int, set[int]] = {p: set() for p in range(PARTITIONS)}
        self.floor = dict.fromkeys(range(PARTITIONS), 0)
        self.paused = False

    @initialize(filtered=st.booleans(), in_order=st.booleans(), window=st.integers(1, 20), factor=st.integers(1, 3))
    def begin(self, filtered: bool, in_order: bool, window: int, factor: int) -> None:
        self.window, self.max_unsettled, self.in_order = window, window * factor, in_order
        self.kinds = {"a"} if filtered else {"a", "b"}
        self.written: dict[int, list[str]] = {p: [] for p in range(PARTITIONS)}
        self.reader = self.log.consumer(
            types=["a"] if filtered else None,
            window_size=window,
            max_unsettled=self.max_unsettled,
            ordering="partition" if in_order else "none",
        )
        for partition in range(PARTITIONS):
            self.append(partition, list("abbaaabbabaaaab"))

    # What may happen

    @rule(partition=st.integers(0, PARTITIONS - 1), kinds=st.lists(st.sampled_from("ab"), min_size=1, max_size=8))
    def append(self, partition: int, kinds: list[str]) -> None:
        for kind in kinds:
            self.log.append(kind=kind, partition=partition)
        self.written[partition] += kinds

    @rule(worker=workers, limit=limits, ok=st.booleans(), delayed=st.booleans(), part=parts)
    def work(self, worker: str, limit: int, ok: bool, delayed: bool, part: int | None) -> None:
        """What workers do most: pull, and say how it went."""
        before = len(self.handed)
        self.pull(worker, limit)
        if len(self.handed) > before:
            self.acknowledge(0, ok, delayed, part)

    @rule(work=st.lists(st.tuples(workers, limits, st.booleans(), st.booleans(), parts), max_size=5))
    def work_on(self, work: list[tuple[str, int, bool, bool, int | None]]) -> None:
        for turn in work:
            self.work(*turn)

    @rule(worker=workers, limit=limits)
    def pull(self, worker: str, limit: int) -> None:
        own = [held for held in self.live.values() if held.is_out() and held.worker == worker]
        due = [held for held in self.live.values() if held.state in ("expired", "waiting") and self.may_go(held)]
        out = sum(len(held.offsets) for held in self.live.values() if held.is_out())
        try:
            lease = self.reader.pull(worker, limit=limit)
        except DestinationPaused:
            assert self.paused
            return
        except WindowFull as full:
            assert not self.paused and not own
            unsettled = sum(len(held.offsets) for held in self.live.values())
            assert out >= self.window or (unsettled >= self.max_unsettled and not due)
            assert full.details["leased"] == out and full.details["waiting"] == unsettled - out
            return
        assert not self.paused
        if isinstance(lease, Nothing):
            assert not own and not due and not self.has_new()
            return
        self.check_order(lease, own, due)
        self.take(lease, worker, limit, self.window - out)

    def check_order(self, lease: Lease, own: list[Held], due: list[Held]) -> None:
        held = self.live.get(lease.id)
        if own:
            assert lease.origin == "own" and held in own
        elif due:
            assert lease.origin == "redelivery" and held in due
        else:
            assert lease.origin == "new" and held is None and lease.id not in self.past

    def take(self, lease: Lease, worker: str, limit: int, room: int) -> None:
        self.handed.append(lease)
        offsets = list(lease.offsets)
        if lease.origin == "own":
            held = self.live[lease.id]
            assert (offsets, lease.generation, lease.attempt) == (held.offsets, held.generation, held.attempt)
            return
        assert 1 <= len(offsets) <= min(limit, room) and offsets == sorted(set(offsets))
        assert all(self.written[lease.partition][offset] in self.kinds for offset in offsets)
        if lease.origin == "redelivery":
            self.redeliver(lease, offsets, worker)
        else:
            assert (lease.generation, lease.attempt) == (0, 1)
            assert sum(len(held.offsets) for held in self.live.values()) + len(offsets) <= self.max_unsettled
            assert not self.in_order or not [h for h in self.live.values() if h.partition == lease.partition]
            self.live[lease.id] = Held(lease.partition, offsets, worker)

    def redeliver(self, lease: Lease, offsets: list[int], worker: str) -> None:
        held = self.live[lease.id]
        assert (lease.generation, lease.attempt) == (held.generation + 1, held.attempt + 1)
        assert offsets == held.offsets[: len(offsets)]
        rest = held.offsets[len(offsets) :]
        if rest:
            [(new,)] = sql(
                "SELECT id FROM lease WHERE consumer_id = %s AND id <> ALL (%s)", self.reader.number, list(self.live)
            )
            self.live[new] = Held(held.partition, rest, held.worker, held.generation, held.attempt, "waiting")
        held.offsets, held.worker, held.state = offsets, worker, "leased"
        held.generation, held.attempt = lease.generation, lease.attempt

    @precondition(lambda self: self.handed)
    @rule(which=st.integers(0, 30), ok=st.booleans(), delayed=st.booleans(), part=parts)
    def acknowledge(self, which: int, ok: bool, delayed: bool, part: int | None) -> None:
        lease = self.handed[-1 - which % len(self.handed)]
        held = self.live.get(lease.id) or self.past[lease.id]
        is_open = lease.id in self.live and held.generation == lease.generation and held.state in ("leased", "expired")
        failed = (held.offsets[part::2] or None) if part is not None and not ok and is_open else None
        if ok:
            outcome = self.reader.ok(lease)
        else:
            positions = None if failed is None else [(held.partition, offset) for offset in failed]
            outcome = self.reader.fail(lease, delay=1000 if delayed else None, positions=positions)
        said = "committed" if ok else "requeued"
        if is_open:
            assert outcome.status == said
            self.close(lease, held, said, failed, delayed)
        else:
            again = held.said.get(lease.generation) == said and held.generation == lease.generation
            assert outcome.status == (said if again else "stale")
        assert outcome.unsettled <= self.truth(held.partition)
        assert outcome.unsettled == self.reader.unsettled(held.partition)

    def close(self, lease: Lease, held: Held, said: str, failed: list[int] | None, delayed: bool) -> None:
        held.said[lease.generation] = said
        done = held.offsets if said == "committed" else [o for o in held.offsets if failed is not None and o not in failed]
        assert not self.settled[held.partition] & set(done), "settled twice"
        self.settled[held.partition] |= set(done)
        if said == "committed":
            self.past[lease.id] = self.live.pop(lease.id)
        else:
            held.offsets = held.offsets if failed is None else failed
            held.state = "delayed" if delayed else "waiting"

    @precondition(lambda self: self.live)
    @rule(which=st.integers(0, 30))
    def run_out(self, which: int) -> None:
        """Time passes: a lease ends, or a delay."""
        identifier, held = list(self.live.items())[which % len(self.live)]
        self.reader.run_out(identifier)
        held.state = {"leased": "expired", "delayed": "waiting"}.get(held.state, held.state)

    @precondition(lambda self: self.handed)
    @rule(which=st.integers(0, 30))
    def extend(self, which: int) -> None:
        lease = self.handed[-1 - which % len(self.handed)]
        held = self.live.get(lease.id)
        is_open = held is not None and held.generation == lease.generation and held.state in ("leased", "expired")
        try:
            extend(self.reader.topic_id, self.reader.number, lease.id, lease.generation, 600)
            assert is_open
            held.state = "leased"
        except LeaseLost:
            assert not is_open

    @precondition(lambda self: self.live)
    @rule(which=st.integers(0, 30))
    def operator_expires(self, which: int) -> None:
        identifier, held = list(self.live.items())[which % len(self.live)]
        tidy.expire(self.reader.topic_id, self.reader.number, identifier)
        if held.state in ("leased", "expired"):
            held.said[held.generation] = "expired"
        held.state = "waiting"

    @rule()
    def sweep(self) -> None:
        tidy.expire_leases()

    @precondition(lambda self: not self.paused)
    @rule(worker=workers, stays=st.sampled_from([False, False, False, True]))
    def pause(self, worker: str, stays: bool) -> None:
        cursors.pause(self.reader.topic_id, self.reader.number, by="model")
        self.paused = True
        self.pull(worker, 1)
        if not stays:
            self.resume()

    @precondition(lambda self: self.paused)
    @rule()
    def resume(self) -> None:
        cursors.resume(self.reader.topic_id, self.reader.number)
        self.paused = False

    # What must hold

    def may_go(self, held: Held) -> bool:
        """In order: only the first live batch of a partition."""
        return not self.in_order or held.offsets[0] == min(
            other.offsets[0] for other in self.live.values() if other.partition == held.partition
        )

    def position(self, partition: int) -> int:
        place = self.reader.number, partition
        return sql("SELECT position FROM cursor WHERE consumer_id = %s AND partition = %s", *place)[0][0]

    def has_new(self) -> bool:
        for partition, kinds in self.written.items():
            is_free = not self.in_order or not [held for held in self.live.values() if held.partition == partition]
            if is_free and self.kinds & set(kinds[self.position(partition) :]):
                return True
        return False

    def truth(self, partition: int) -> int:
        """The first wanted event that is not settled; events nobody wants up to it are passed."""
        wanted = [o for o, kind in enumerate(self.written[partition]) if kind in self.kinds]
        return next((o for o in wanted if o not in self.settled[partition]), len(self.written[partition]))

    @invariant()
    def live_leases_are_what_the_model_has(self) -> None:
        rows = sql(
            "SELECT id, partition, events, first_offset, next_offset, generation, attempt FROM lease WHERE consumer_id = %s",
            self.reader.number,
        )
        assert {row[0]: row[1:] for row in rows} == {
            identifier: (h.partition, len(h.offsets), h.offsets[0], h.offsets[-1] + 1, h.generation, h.attempt)
            for identifier, h in self.live.items()
        }

    @invariant()
    def every_wanted_event_before_the_position_is_settled_or_in_one_lease(self) -> None:
        for partition, kinds in self.written.items():
            held = sorted(o for h in self.live.values() if h.partition == partition for o in h.offsets)
            assert len(held) == len(set(held))
            passed = {o for o, kind in enumerate(kinds[: self.position(partition)]) if kind in self.kinds}
            assert passed == self.settled[partition] | set(held)

    @invariant()
    def committed_never_goes_back_and_never_passes_an_unsettled_event(self) -> None:
        for partition in self.written:
            unsettled = self.reader.unsettled(partition)
            assert self.floor[partition] <= unsettled <= self.truth(partition)
            self.floor[partition] = unsettled


@pytest.mark.django_db
def test_the_machine_agrees_with_the_model():
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=int(50 * SCALE),
            stateful_step_count=40,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
