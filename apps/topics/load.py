"""What a partition carries: its hot window, and the rate at which this process appends to it."""

import math
import threading
import time
from dataclasses import dataclass

SMOOTHING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Load:
    hot_records: int
    hot_bytes: int
    records_per_second: float
    backlog: int

    def shown(self) -> dict[str, float]:
        return {
            "hotRecords": self.hot_records,
            "hotBytes": self.hot_bytes,
            "recordsPerSecond": round(self.records_per_second, 1),
            "backlog": self.backlog,
        }


class Rates:
    """Events a second by (topic, partition), as a moving average with exponential decay."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rates: dict[tuple[int, int], tuple[float, float]] = {}

    def count(self, topic_id: int, partition: int, events: int) -> float:
        now = time.monotonic()
        with self._lock:
            rate = self._decayed(topic_id, partition, now) + events / SMOOTHING_SECONDS
            self._rates[topic_id, partition] = (now, rate)
        return rate

    def current(self, topic_id: int, partition: int) -> float:
        return self._decayed(topic_id, partition, time.monotonic())

    def _decayed(self, topic_id: int, partition: int, now: float) -> float:
        since, rate = self._rates.get((topic_id, partition), (now, 0.0))
        return rate * math.exp((since - now) / SMOOTHING_SECONDS)


rates = Rates()
