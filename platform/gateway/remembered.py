"""What a path leads to is asked again and again, and is the same each time."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

LONGEST = 300

Known = TypeVar("Known")
Found = TypeVar("Found")


def remembered(most: int) -> Callable[[Callable[[Known, str], Found]], Callable[[Known, str], Found]]:
    """A cache by both arguments, but for a long text: it hardly comes twice, and a thousand of them would be memory."""

    def decorate(find: Callable[[Known, str], Found]) -> Callable[[Known, str], Found]:
        again = lru_cache(maxsize=most)(find)
        return lambda known, text: again(known, text) if len(text) <= LONGEST else find(known, text)

    return decorate
