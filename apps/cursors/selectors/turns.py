"""Which partitions polls of a whole topic have served a group lately. In this process's memory: reading writes nothing."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import count

MAX_REMEMBERED = 65_536


class Turns:
    """Bounded: what was served longest ago is forgotten first, and has its turn early."""

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._served: OrderedDict[tuple[int, str, int], int] = OrderedDict()
        self._numbers = count(1)
        self._lock = threading.Lock()

    def of(self, topic_id: int, group: str, partitions: Iterable[int]) -> dict[int, int]:
        """A number for each that grows with every time it is served; 0: never, as far as is remembered."""
        with self._lock:
            return {partition: self._served.get((topic_id, group, partition), 0) for partition in partitions}

    def served(self, topic_id: int, group: str, partitions: Iterable[int]) -> None:
        with self._lock:
            for partition in partitions:
                key = (topic_id, group, partition)
                self._served[key] = next(self._numbers)
                self._served.move_to_end(key)
            while len(self._served) > self._most:
                self._served.popitem(last=False)


turns = Turns()
