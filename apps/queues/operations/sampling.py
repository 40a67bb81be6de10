"""Samples of what queues hold: pages, metrics and the API read these and say "as of", and count nothing themselves."""

from apps.queues import selectors
from core import sql

SAMPLE = sql.statement(__file__, "sample")
# A state is counted up to here, along its index: 1,000,000 ready events cost a sample no more than 100,000.
MOST = 100_000


def sample(queue: int) -> int:
    before = selectors.standing(queue)
    sql.run((SAMPLE, {"queue": queue, "most": MOST, "since": before.now.at if before else None}))
    return 1
