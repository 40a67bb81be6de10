"""How pages show a payload: what may be seen of it, set out in lines and cut when it is long; whole behind a link to raw."""

from typing import Any

from django.http import HttpResponse

from core.json_text import indented
from core.masking import shown_payload

SHOWN_CHARACTERS = 32_768


def viewed(text: str | None, may_read: bool, is_json: bool = True) -> dict[str, Any]:
    """What a template needs of it. Nothing at all for those who may not read it."""
    shown = shown_payload(text or "") if may_read else ""
    payload = readable(shown) if is_json else shown[:SHOWN_CHARACTERS]
    return {"may_read": may_read, "payload": payload, "is_cut": len(shown) > SHOWN_CHARACTERS}


def readable(text: str) -> str:
    """Set out in lines, unless that would be cut."""
    if len(text) > SHOWN_CHARACTERS:
        return text[:SHOWN_CHARACTERS]
    lines = indented(text)
    return lines if len(lines) <= 4 * SHOWN_CHARACTERS else text


def raw(text: str | None, name: object) -> HttpResponse:
    """Byte for byte what is stored (but for hidden fields), as plain text whatever it is."""
    headers = {"Content-Disposition": f'inline; filename="{name}.txt"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(shown_payload(text or "").encode(), content_type="text/plain; charset=utf-8", headers=headers)
