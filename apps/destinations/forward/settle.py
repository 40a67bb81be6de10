"""What became of requests to a webhook: remembered, acknowledged or given back, and counted for the breaker."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from apps.destinations.forward.line import Line
from apps.destinations.forward.work import OPENS_AFTER, Work
from apps.destinations.operations.attempts import Attempt, record
from apps.destinations.operations.disable import disable
from apps.destinations.webhooks.client import Reply
from apps.destinations.webhooks.message import Message
from apps.destinations.webhooks.verdict import Verdict, back_off, verdict
from apps.leases.operations.acknowledge import Failure, acknowledge
from core import sql
from core.errors import NotFound

PUSH_FAILED = sql.statement(__file__, "push_failed")
PUSH_SUCCEEDED = sql.statement(__file__, "push_succeeded")

FIRST_PROBE_SECONDS, LONGEST_PROBE_SECONDS = 10.0, 300.0


@dataclass(frozen=True)
class Sent:
    message: Message
    offsets: list[int]
    reply: Reply


def settle(line: Line, work: Work, sent: Sequence[Sent]) -> None:
    """The state first: a failure that is given back may be picked up at once, and must find the breaker as it is."""
    attempt = work.batch.lease.attempt
    record(line.topic_id, line.consumer_id, [Attempt("delivery", each.message, attempt, each.reply) for each in sent])
    verdicts = [verdict(each.reply) for each in sent]
    _count(line, work, verdicts)
    _answer(line, work, sent, verdicts)


def _answer(line: Line, work: Work, sent: Sequence[Sent], verdicts: Sequence[Verdict]) -> None:
    lease = work.batch.lease
    failed = [(each, said) for each, said in zip(sent, verdicts, strict=True) if not said.delivered]
    failure = None
    if failed:
        waits = [said.wait for _, said in failed if said.wait is not None]
        failure = Failure(
            error=failed[0][1].error,
            delay=max([back_off(lease.attempt), *waits]),
            positions=[(lease.partition, offset) for each, _ in failed for offset in each.offsets],
        )
    try:
        acknowledge(line.topic_id, line.consumer_id, lease.id, lease.generation, failure)
    except NotFound:
        pass  # deleted meanwhile


def _count(line: Line, work: Work, verdicts: Sequence[Verdict]) -> None:
    delivered = [number for number, said in enumerate(verdicts) if said.delivered]
    if delivered and (work.failures or len(delivered) < len(verdicts)):
        sql.run((PUSH_SUCCEEDED, {"destination": line.id}))
    for said in verdicts[delivered[-1] + 1 if delivered else 0 :]:
        failures, hopeless = _fail(line, said)
        if said.gone:
            disable(line.topic_id, line.consumer_id, "the endpoint answered 410 Gone")
        elif hopeless:
            reason = f"nothing was delivered for five days; the last of {failures} failures: {said.error}"
            disable(line.topic_id, line.consumer_id, reason)


def _fail(line: Line, said: Verdict) -> tuple[int, bool]:
    how = {
        "destination": line.id,
        "error": said.error[:500],
        "wait": said.wait or 0.0,
        "opens": OPENS_AFTER,
        "first": FIRST_PROBE_SECONDS,
        "longest": LONGEST_PROBE_SECONDS,
        "jitter": random.uniform(0.5, 1.0),
    }
    failures, hopeless = sql.run((PUSH_FAILED, how))[0][0]
    return failures, hopeless
