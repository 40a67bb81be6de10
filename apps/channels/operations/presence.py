"""How many live connections this process has, written down every few seconds for the API and the admin."""

from collections.abc import Mapping

from core import sql
from core.ids import uuid7

RECORD_LIVE = sql.statement(__file__, "record_live")

PROCESS = uuid7()


def record(counts: Mapping[str, int]) -> None:
    sql.run((RECORD_LIVE, {"process": PROCESS, "channels": list(counts), "counts": list(counts.values())}))
