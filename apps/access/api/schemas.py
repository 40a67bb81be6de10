"""What this app's endpoints take and answer."""

from typing import Any

from core.openapi import Answer

TOKEN_REQUEST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "grant_type": {"const": "client_credentials"},
        "scope": {"type": "string", "description": "Scopes of the client, separated by spaces."},
        "client_id": {"type": "string", "description": "Or in the Authorization header (Basic)."},
        "client_secret": {"type": "string"},
    },
    "required": ["grant_type"],
}
TOKEN_PROBLEM: dict[str, Any] = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "error_description": {"type": "string"}},
    "required": ["error"],
}


class Token(Answer, rename=None):
    access_token: str
    token_type: str
    expires_in: int
    scope: str
