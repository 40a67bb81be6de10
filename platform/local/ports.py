"""Is the port free, and if not, who has it?"""

import os
import socket
import sys
from pathlib import Path


def claim(host: str, port: int) -> int:
    """The port (a free one for 0), or OSError. Released again at once: the server binds it itself."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
    except socket.gaierror as error:
        sys.exit(f"--host {host}: {error.strerror}")
    with socket.socket(family, kind, number) as probe:
        # Connections of an earlier run that still wind down do not make a port taken; a listener does.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        probe.listen(1)
        return int(probe.getsockname()[1])


def holder(port: int) -> str:
    """`process 4711 (python3 server.py)`, as far as the system tells us; else `another process`."""
    inodes = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _listening(table, port)}
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()) if inodes else []:
        if _has_open(pid, inodes):
            return f"process {pid} ({_command(pid)})"
    return "another process"


def _listening(table: str, port: int) -> list[str]:
    try:
        rows = [line.split() for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    except OSError:
        return []
    return [row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]


def _has_open(pid: int, inodes: set[str]) -> bool:
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
        return any(os.readlink(f"/proc/{pid}/fd/{descriptor}") in inodes for descriptor in descriptors)
    except OSError:
        return False


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:120]
    except OSError:
        return "unknown"
