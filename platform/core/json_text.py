"""JSON set out in lines for reading, token by token: numbers, escapes and doubled keys stay exactly as they were sent."""

import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
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
