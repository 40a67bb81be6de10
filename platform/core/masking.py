"""What people may not see: the values of the fields that an installation names (TOWPATH_MASKED_FIELDS), wherever they stand.

In JSON the value of such a member is hidden at any depth. In other text, such as an error that repeats what was sent,
whatever follows the name and a colon or an equals sign is.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from django.conf import settings

from core.json_text import MASK, masked

HIDDEN = "•••"
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_PLAIN = re.compile(r"[^,;&<>{}\[\]()\n]+")


def names() -> frozenset[str]:
    found: frozenset[str] = settings.TOWPATH["MASKED_FIELDS"]
    return found


def shown_payload(text: str) -> str:
    """A payload as people may see it. What is no JSON is taken for text."""
    return masked(text, names()) if text.lstrip()[:1] in ("{", "[") else shown_text(text)


def shown_text(text: str) -> str:
    """An error, or another text that may repeat a payload: more may be hidden than has to be, never less."""
    return _hidden(masked(text, names()), names()) if text and names() else text


def shown_field(name: str, value: Any) -> Any:
    """One attribute of an event that stands in a column of its own."""
    return HIDDEN if value not in (None, "") and name.lower() in names() else value


def shown_values(values: Any) -> Any:
    """The same for what was parsed already."""
    if isinstance(values, dict):
        return {name: HIDDEN if str(name).lower() in names() else shown_values(value) for name, value in values.items()}
    return [shown_values(value) for value in values] if isinstance(values, list) else values


def _hidden(text: str, wanted: Collection[str]) -> str:
    parts: list[str] = []
    at = 0
    for found in _pattern(frozenset(wanted)).finditer(text):
        if found.start() < at:
            continue  # inside a value that is hidden already
        end = _end_of_element(text, found) if found["element"] else _end_of_value(text, found.end())
        if text[found.end() : end] != MASK:
            parts += [text[at : found.end()], HIDDEN]
            at = end
    return "".join([*parts, text[at:]])


@lru_cache(maxsize=4)
def _pattern(wanted: frozenset[str]) -> re.Pattern[str]:
    """A name, in quotes or none, escaped ones too, up to the beginning of its value; or the tag of an element."""
    one_of = "|".join(re.escape(name) for name in sorted(wanted))
    field = rf"(?<![\w-])(?:{one_of})(?:\\*[\"'])?\s*[:=]>?\s*"
    return re.compile(rf"{field}|<(?P<element>{one_of})(?:\s[^<>]*)?>", re.IGNORECASE)


def _end_of_element(text: str, found: re.Match[str]) -> int:
    end = text.lower().find(f"</{found['element'].lower()}", found.end())
    return end if end >= 0 else len(text)


def _end_of_value(text: str, start: int) -> int:
    quote = re.match(r"\\*[\"']", text[start : start + 16])
    if quote:
        end = re.compile(r"(?<!\\)" + re.escape(quote[0])).search(text, start + len(quote[0]))
        return end.end() if end else len(text)
    if text[start : start + 1] in _PAIRS:
        return _end_of_bracket(text, start)
    plain = _PLAIN.match(text, start)
    return plain.end() if plain else start


def _end_of_bracket(text: str, start: int) -> int:
    """Behind the bracket that closes it; without one all that is left."""
    opening, depth = text[start], 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == _PAIRS[opening])
        if depth == 0:
            return at + 1
    return len(text)
