"""What the description of the API shows."""

from typing import Any

MAKE: dict[str, Any] = {"name": "billing", "type": "DURABLE_CONSUMER", "topic": "orders", "filter": {"types": ["order.*"]}}

DESTINATION: dict[str, Any] = {
    "id": "019ad2f0-3c1e-7a52-b0a6-5d3f0f3f9a10",
    "name": "billing",
    "type": "DURABLE_CONSUMER",
    "topic": "orders",
    "filter": {"types": ["order.*"], "subjectPrefix": None, "sourcePrefix": None},
    "startAt": "head",
    "window": 1000,
    "maxUnsettled": 10000,
    "maxDeliveries": 0,
    "ordering": "none",
    "retryBackoff": False,
    "createdAt": "2026-11-29T12:00:00.000000Z",
    "updatedAt": "2026-11-29T12:00:00.000000Z",
    "state": "active",
    "pausedAt": None,
    "pauseReason": None,
    "resumeAt": None,
    "cause": {"code": "caught_up", "text": "caught up", "since": None},
}

LEASE_REFERENCE: dict[str, Any] = {"leaseId": "019ad2f1-77aa-7c11-9a63-0f5e1c7b2d40", "generation": 0}
ACKNOWLEDGE: dict[str, Any] = {**LEASE_REFERENCE, "status": "ok"}
OUTCOME: dict[str, Any] = {"status": "committed", "committed": "003.00000000000000000119"}

BATCH: dict[str, Any] = {
    **LEASE_REFERENCE,
    "attempt": 1,
    "expiresAt": "2026-11-29T12:01:00.000000Z",
    "events": [
        {
            "specversion": "1.0",
            "id": "8f4d2a1e",
            "source": "/shop",
            "type": "order.placed",
            "subject": "sku-123",
            "data": {"quantity": 2},
            "sequence": "003.00000000000000000119",
        }
    ],
}

LAG: dict[str, Any] = {
    "state": "held",
    "cause": {
        "code": "held_by_lease",
        "text": "cursor held at 000.00000000000000000120 by lease 019ad2f1-… of worker-7, attempt 5",
        "since": "2026-11-29T12:00:00.000000Z",
    },
    "lagEvents": 20,
    "lagSeconds": 312.5,
    "exact": True,
    "inFlight": 20,
    "waiting": 0,
    "deadLetters": 0,
    "partitions": [
        {
            "partition": 0,
            "oldest": "000.00000000000000000000",
            "committed": "000.00000000000000000119",
            "position": "000.00000000000000000140",
            "head": "000.00000000000000000140",
            "lagEvents": 20,
            "lagSeconds": 312.5,
            "inFlight": 20,
            "waiting": 0,
            "oldestLease": {
                "leaseId": "019ad2f1-77aa-7c11-9a63-0f5e1c7b2d40",
                "workerId": "worker-7",
                "generation": 4,
                "attempt": 5,
                "state": "leased",
                "leasedAt": "2026-11-29T12:00:00.000000Z",
                "expiresAt": "2026-11-29T12:06:00.000000Z",
            },
            "retentionReachesInSeconds": None,
        }
    ],
    "skipped": [],
}
