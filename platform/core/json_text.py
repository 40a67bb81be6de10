"""JSON set out in lines for reading, token by token: numbers, escapes and doubled keys stay exactly as they were sent."""

import json
import re
from collections.abc import Callable, Collection

# A string that is not closed, since the text was cut, reaches to the end.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|\{\s*\}|\[\s*\]|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
DEEPEST = 24  # levels below are not indented further: they would leave the page to the right


def indented(text: str) -> str:
    """For text that is JSON; of anything else it only moves white space."""
    parts: list[str] = []
    depth = 0
    for token in _TOKEN.findall(text):
        if token in ("{", "["):
            depth += 1
            parts.append(token + _line(depth))
        elif token in ("}", "]"):
            depth -= 1
            parts.append(_line(depth) + token)
        elif token == ",":
            parts.append(token + _line(depth))
        else:
            parts.append(": " if token == ":" else token)
    return "".join(parts)


def _line(depth: int) -> str:
    return "\n" + "  " * max(0, min(depth, DEEPEST))


MASK = '"•••"'


def masked(text: str, names: Collection[str]) -> str:
    """With the value of every member of these names (lower case) hidden, at any depth; the rest stays as it is."""
    return replaced(text, lambda depth, name: MASK if name.lower() in names else None) if names else text


def replaced(text: str, wanted: Callable[[int, str], str | None]) -> str:
    """With other values where `wanted(depth, name)` gives one: depth 1 are the members of the outermost object."""
    tokens = list(_TOKEN.finditer(text))
    parts: list[str] = []
    copied = depth = at = 0
    while at < len(tokens):
        token = tokens[at][0]
        depth += (token in ("{", "[")) - (token in ("}", "]"))
        is_name = token[0] == '"' and at + 2 < len(tokens) and tokens[at + 1][0] == ":"
        value = wanted(depth, _unescaped(token)) if is_name else None
        at += 1
        if value is not None:
            parts += [text[copied : tokens[at + 1].start()], value]
            at = _after_value(tokens, at + 1)
            copied = tokens[at - 1].end()
    return "".join([*parts, text[copied:]])


def _unescaped(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token


def _after_value(tokens: list[re.Match[str]], at: int) -> int:
    """The token behind the value that begins at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at][0] in ("{", "[")) - (tokens[at][0] in ("}", "]"))
        at += 1
        if depth <= 0:
            break
    return at
