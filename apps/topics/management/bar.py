"""A bar on a terminal, and nothing elsewhere."""

import sys
import time

WIDTH = 30
PAUSE = 0.1


class Bar:
    def __init__(self, unit: str) -> None:
        self._unit, self._shown, self._began = unit, 0.0, time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - self._shown < PAUSE and done < total):
            return
        self._shown = now
        filled = WIDTH * done // max(total, 1)
        rate = done / max(now - self._began, 0.001)
        end = "\n" if done >= total else ""
        print(f"\r[{'#' * filled:<{WIDTH}}] {done:,} of {total:,} {self._unit}, {rate:,.0f}/s ", end=end, file=sys.stderr)
