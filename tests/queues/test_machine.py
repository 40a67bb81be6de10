"""A queue against a small model: random enqueueing, claims, settlements, expiries, pauses, redrives and purges.

The model knows what each event is, not how it is stored. It predicts every claim exactly.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from apps.queues.operations import dead_letters, queues, sweep
from apps.queues.operations.claim import Claim, claim
from apps.queues.operations.enqueue import NewEvent, enqueue
from apps.queues.operations.settle import acknowledge, acknowledge_several, heartbeat, nack
from apps.queues.selectors import find_queue
from core.errors import LeaseLost, NotFound
from tests.factories import unique
from tests.queues.conftest import execute

SCALE = float(os.environ.get("TOWPATH_TEST_SCALE", "1"))
MONTH = 2_592_000
LIVING = ("ready", "waiting", "due", "leased", "expired", "blocked")


@dataclass
class Known:
    n: int
    id: UUID
    priority: int
    group: str | None
    scheduled_at: datetime
    delayed: bool
    state: str = "blocked"
    attempts: int = 0
    token: object = None

    def order(self) -> tuple[int, datetime, int]:
        return -self.priority, self.scheduled_at, self.n


class QueueMachine(RuleBasedStateMachine):
    @initialize(attempts=st.integers(1, 3))
    def begin(self, attempts: int) -> None:
        self.attempts = attempts
        name = unique("machine")
        queues.create(None, name, max_attempts=attempts)
        self.queue = find_queue(name)
        self.events: list[Known] = []
        self.stale: list[tuple[UUID, object, str]] = []
        self.paused, self.count = False, 0

    def in_state(self, *states: str) -> list[Known]:
        return [event for event in self.events if event.state in states]

    def come_forward(self) -> None:
        """The first living event of each key is no longer blocked."""
        heads = set()
        for event in sorted(self.in_state(*LIVING), key=lambda event: event.n):
            if event.group is None or event.group not in heads:
                heads.add(event.group)
                if event.state == "blocked":
                    event.state = "waiting" if event.delayed else "ready"

    def learn(self, event_id: UUID, scheduled_at: datetime, priority: int, group: str | None, delayed: bool) -> None:
        self.count += 1
        self.events.append(Known(self.count, event_id, priority, group, scheduled_at, delayed))
        self.come_forward()

    @rule(
        priorities=st.lists(st.integers(-1, 1), min_size=1, max_size=3),
        group=st.sampled_from([None, "a", "b"]),
        delayed=st.booleans(),
    )
    def enqueue(self, priorities: list[int], group: str | None, delayed: bool) -> None:
        news = [NewEvent("{}", delay=MONTH * delayed, priority=priority, group_key=group) for priority in priorities]
        for made, priority in zip(enqueue(self.queue, news), priorities, strict=True):
            self.learn(made.id, made.scheduled_at, priority, group, delayed)

    @rule(limit=st.integers(1, 4))
    def claim(self, limit: int) -> None:
        found = claim(self.queue, limit=limit)
        exhausted = [event for event in self.in_state("expired") if event.attempts >= self.attempts]
        for event in self.in_state("due", "expired"):
            if event not in exhausted:
                event.state = "ready"
        expected = [] if self.paused else sorted(self.in_state("ready"), key=Known.order)[:limit]
        assert [one.id for one in found] == [event.id for event in expected]
        for one, event in zip(found, expected, strict=True):
            self.take(one, event)
        for event in exhausted:
            event.state = "dead"
        self.come_forward()

    def take(self, one: Claim, event: Known) -> None:
        event.state, event.token, event.attempts = "leased", one.token, event.attempts + 1
        assert one.attempt_count == event.attempts

    @precondition(lambda self: self.in_state("leased"))
    @rule(choice=st.randoms(use_true_random=False))
    def ack(self, choice) -> None:
        event = choice.choice(self.in_state("leased"))
        acknowledge(event.id, event.token)
        self.events.remove(event)
        self.stale.append((event.id, event.token, "acked"))
        self.come_forward()

    @precondition(lambda self: len(self.in_state("leased")) > 1)
    @rule(choice=st.randoms(use_true_random=False), count=st.integers(1, 4))
    def ack_several(self, choice, count: int) -> None:
        """Beside those that are held: some held no longer, some twice, one that nobody knows."""
        leased = self.in_state("leased")
        held = choice.sample(leased, min(count, len(leased)))
        asked = {(event.id, event.token): "acked" for event in held}
        asked |= {(event, token): "acked" if said == "acked" else "lost" for event, token, said in self.stale[-2:]}
        order = [*choice.choices([*asked], k=3), *asked]
        faults = acknowledge_several(self.queue.id, [(event, token.secret) for event, token in order] + [(uuid4(), uuid4())])
        assert ["acked" if fault is None else "lost" for fault in faults] == [*[asked[one] for one in order], "lost"]
        self.events = [event for event in self.events if event not in held]
        self.stale += [(event.id, event.token, "acked") for event in held]
        self.come_forward()

    @precondition(lambda self: self.in_state("leased"))
    @rule(choice=st.randoms(use_true_random=False), at_once=st.booleans())
    def nack(self, choice, at_once: bool) -> None:
        event = choice.choice(self.in_state("leased"))
        back = nack(event.id, event.token, "boom", 0 if at_once else MONTH)
        dies = event.attempts >= self.attempts
        assert back.status == ("dead" if dies else "waiting")
        event.state = "dead" if dies else "ready" if at_once else "waiting"
        self.stale.append((event.id, event.token, back.status))
        self.come_forward()

    @precondition(lambda self: self.in_state("leased"))
    @rule(choice=st.randoms(use_true_random=False))
    def beat(self, choice) -> None:
        event = choice.choice(self.in_state("leased"))
        heartbeat(event.id, event.token, 600)

    @precondition(lambda self: self.in_state("leased"))
    @rule(choice=st.randoms(use_true_random=False))
    def expire(self, choice) -> None:
        event = choice.choice(self.in_state("leased"))
        execute("UPDATE queue_event SET due_at = statement_timestamp() - interval '1 s' WHERE id = %s", event.id)
        event.state = "expired"
        self.stale.append((event.id, event.token, "lost"))

    @precondition(lambda self: self.in_state("waiting"))
    @rule(choice=st.randoms(use_true_random=False))
    def fall_due(self, choice) -> None:
        event = choice.choice(self.in_state("waiting"))
        execute("UPDATE queue_event SET due_at = statement_timestamp() - interval '1 s' WHERE id = %s", event.id)
        event.state, event.delayed = "due", False

    @precondition(lambda self: self.stale)
    @rule(choice=st.randoms(use_true_random=False))
    def settle_with_a_stale_token(self, choice) -> None:
        event, token, said = choice.choice(self.stale)
        assert self.said(acknowledge, event, token) == ("acked" if said == "acked" else "lost")
        assert self.said(nack, event, token) == (said if said in ("waiting", "dead") else "lost")
        assert self.said(heartbeat, event, token, 60) == "lost"

    def said(self, call, *arguments) -> str:
        try:
            answer = call(*arguments)
        except (LeaseLost, NotFound):
            return "lost"
        return answer.status if answer is not None else "acked"

    @rule()
    def pause_or_resume(self) -> None:
        (queues.resume if self.paused else queues.pause)(None, self.queue.id)
        self.paused = not self.paused

    @precondition(lambda self: self.in_state("dead"))
    @rule(choice=st.randoms(use_true_random=False))
    def redrive(self, choice) -> None:
        event = choice.choice(self.in_state("dead"))
        made = dead_letters.redrive(None, self.queue, event.id)
        self.events.remove(event)
        self.learn(made.id, made.scheduled_at, event.priority, event.group, delayed=False)

    @precondition(lambda self: self.events)
    @rule(choice=st.randoms(use_true_random=False))
    def discard(self, choice) -> None:
        event = choice.choice(self.events)
        dead_letters.discard(None, self.queue, event.id, [*sweep.LIVING, "dead"])
        self.events.remove(event)
        self.come_forward()

    @rule()
    def park(self) -> None:
        sweep.park_exhausted(self.queue.id)
        for event in self.in_state("expired"):
            if event.attempts >= self.attempts:
                event.state = "dead"
        self.come_forward()

    @precondition(lambda self: len(self.events) > 6)
    @rule(dead_too=st.booleans())
    def purge(self, dead_too: bool) -> None:
        queues.purge(None, self.queue.id, dead_too=dead_too)
        self.events = [] if dead_too else self.in_state("dead")

    @invariant()
    def the_database_agrees(self) -> None:
        if not hasattr(self, "queue"):
            return
        found = dict(execute("SELECT id, state FROM queue_event WHERE queue_id = %s", self.queue.id))
        stored = {"due": "waiting", "expired": "leased"}
        assert found == {event.id: stored.get(event.state, event.state) for event in self.events}
        assert sweep.repair_groups(self.queue.id) == 0


@pytest.mark.django_db
def test_whatever_happens_the_queue_does_as_the_model_says():
    bounds = settings(
        max_examples=int(40 * SCALE),
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    run_state_machine_as_test(QueueMachine, settings=bounds)
