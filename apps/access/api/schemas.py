"""What this app's endpoints take and answer."""

from datetime import datetime
from typing import Any
from uuid import UUID

from apps.access.models import Audit
from core.clock import rfc3339
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


class AuditEntry(Answer):
    id: UUID
    at: datetime
    actor: str
    actor_kind: str
    verb: str
    object_kind: str
    object_id: str
    object_name: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str
    request_id: str


def audit_entry(row: Audit) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "at": rfc3339(row.at),
        "actor": row.actor_name,
        "actorKind": row.actor_kind,
        "verb": row.verb,
        "objectKind": row.object_kind,
        "objectId": row.object_id,
        "objectName": row.object_name,
        "before": row.before,
        "after": row.after,
        "reason": row.reason,
        "requestId": row.request_id,
    }


class Token(Answer, rename=None):
    access_token: str
    token_type: str
    expires_in: int
    scope: str


PAUSE = {
    "id": "019ac2f0-9d2c-7c1e-8f0a-5b1e2d3c4b5a",
    "at": "2026-11-29T12:00:00.000000Z",
    "actor": "ana",
    "actorKind": "user",
    "verb": "pause",
    "objectKind": "destination",
    "objectId": "019ac2ef-1111-7abc-9def-0123456789ab",
    "objectName": "billing",
    "before": {"pausedAt": None},
    "after": {"pausedAt": "2026-11-29T12:00:00.000000Z"},
    "reason": "deploy",
    "requestId": "",
}
