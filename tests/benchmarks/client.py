"""A keep-alive HTTP client that costs little, so that what is measured is the server."""

import json
import socket
from typing import Any


class Client:
    def __init__(self, port: int, token: str | None = None) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self._head = "Host: 127.0.0.1\r\n" + (f"Authorization: Bearer {token}\r\n" if token else "")

    def send(self, method: str, path: str, body: bytes = b"", content_type: str = "application/json") -> tuple[int, bytes]:
        """Status and body."""
        kind = f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n" if body else "Content-Length: 0\r\n"
        self._socket.sendall(f"{method} {path} HTTP/1.1\r\n{self._head}{kind}\r\n".encode() + body)
        return self._answer()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded answer. Raises AssertionError for anything but a success."""
        status, raw = self.send(method, path, b"" if body is None else json.dumps(body).encode())
        assert status < 300, (method, path, status, raw[:500])
        return json.loads(raw) if raw else None

    def _answer(self) -> tuple[int, bytes]:
        while (end := self._rest.find(b"\r\n\r\n")) < 0:
            self._receive()
        head, self._rest = self._rest[:end].lower(), self._rest[end + 4 :]
        status = int(head[9:12])
        at = head.find(b"\r\ncontent-length:")
        length = 0 if at < 0 else int(head[at + 17 :].split(b"\r\n", 1)[0])
        parts, held = [self._rest], len(self._rest)
        while held < length:
            parts.append(self._socket.recv(262_144))
            held += len(parts[-1])
            assert parts[-1], "the server closed the connection"
        whole = b"".join(parts)
        self._rest = whole[length:]
        return status, whole[:length]

    def _receive(self) -> None:
        part = self._socket.recv(262_144)
        assert part, "the server closed the connection"
        self._rest += part

    def close(self) -> None:
        self._socket.close()
