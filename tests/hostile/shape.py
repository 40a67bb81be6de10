"""The one shape of an error."""

from typing import Any

from core.http import is_enveloped

FAMILY = {400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 503}


def check_error(answer: Any, path: str, *statuses: int) -> None:
    assert answer.status_code in (statuses or FAMILY), (answer.status_code, answer.content)
    assert answer["Content-Type"] == "application/json", path
    body = answer.json()
    if path.startswith("/oauth/") and answer.status_code != 405:
        assert isinstance(body["error"], str)
        return
    assert body["requestId"] == answer["X-Request-Id"]
    error = body["error"]
    assert error.keys() == {"code", "message", "details"}
    assert isinstance(error["code"], str) and error["code"].isupper()
    assert error["message"] and isinstance(error["details"], dict)
    if is_enveloped(path):
        assert (body["code"], body["message"], body["data"]) == (answer.status_code, error["message"], None)
