"""What the overview shows."""

from typing import Any


def overview() -> dict[str, Any]:
    return {"attention": [], "tiles": []}
