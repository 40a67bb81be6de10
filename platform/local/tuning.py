"""The embedded PostgreSQL's settings. HOME/postgres/postgres.conf, if there is one, overrides them."""

import os
from pathlib import Path

MIB = 1024 * 1024

SETTINGS = {
    "listen_addresses": "''",
    # The budget stands in docs/production.md.
    "max_connections": "100",
    "jit": "off",
    # Parallel plans need /dev/shm, of which a container has 64 MB; our statements are short.
    "max_parallel_workers_per_gather": "0",
    "random_page_cost": "1.1",
    "max_wal_size": "2GB",
    "min_wal_size": "256MB",
    "wal_buffers": "16MB",
    "checkpoint_timeout": "15min",
    # Leases and queue items are updated all the time: vacuum early, often, and without long pauses.
    "autovacuum_naptime": "10s",
    "autovacuum_vacuum_scale_factor": "0.02",
    "autovacuum_analyze_scale_factor": "0.02",
    "autovacuum_vacuum_cost_limit": "2000",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
    "log_checkpoints": "off",
    "log_min_duration_statement": "'5s'",
    "log_line_prefix": "'%m [%p] %a '",
}

# For tests: data that may be lost with the machine's power, and plans that do not change while a test looks at them.
VOLATILE = {
    "listen_addresses": "'127.0.0.1'",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "log_min_duration_statement": "-1",
}


def write(file: Path, test_port: int | None) -> None:
    settings = {**SETTINGS, "shared_buffers": f"{_shared_buffers()}MB"}
    if test_port:
        settings |= {**VOLATILE, "port": str(test_port)}
    file.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))


def _shared_buffers() -> int:
    """An eighth of the memory, from 128 MB to 2 GB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB
    return max(128, min(2048, memory // 8))
