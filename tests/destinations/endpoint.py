"""An HTTP server that behaves as badly as its path says, and remembers what it was sent."""

import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field

SLOW_SECONDS = 0.2


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Endpoint:
    answers: dict[str, str] = field(default_factory=dict)
    """Other behaviours by path, changed while it runs."""
    requests: list[Request] = field(default_factory=list)

    def __enter__(self) -> "Endpoint":
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._ended = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def url(self, behaviour: str) -> str:
        return f"http://127.0.0.1:{self.port}/{behaviour}"

    def let_go(self) -> None:
        """Whoever is kept waiting is kept no longer."""
        self._ended.set()

    def at(self, behaviour: str) -> list[Request]:
        return [request for request in self.requests if request.path == f"/{behaviour}"]

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as stream:
            while not self._ended.is_set() and (request := self._read(stream)):
                self.requests.append(request)
                behaviour = request.path.removeprefix("/")
                self._behave(connection, self.answers.get(behaviour, behaviour))

    def _read(self, stream) -> Request | None:
        first = stream.readline().split()
        if not first:
            return None
        headers = {}
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers["content-length"]))
        # A sender that was killed in the middle has sent nothing.
        return Request(first[1].decode(), headers, body) if len(body) == int(headers["content-length"]) else None

    def _behave(self, connection: socket.socket, behaviour: str) -> None:
        match behaviour.split("-"):
            case ["nothing"]:
                self._ended.wait()
            case ["trickle"]:
                while not self._ended.wait(SLOW_SECONDS):
                    connection.sendall(b"H")
            case ["endless"]:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while not self._ended.is_set():
                    connection.sendall(b"x" * 65_536)
            case ["reset"]:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
                os.close(connection.detach())
            case [status, *wait]:
                more = f"retry-after: {wait[0]}\r\n" if wait else ""
                more += f"location: http://127.0.0.1:{self.port}/200\r\n" if status == "301" else ""
                body = b"" if status == "204" else b"said"
                length = "" if status == "204" else f"content-length: {len(body)}\r\n"
                connection.sendall(f"HTTP/1.1 {status} X\r\n{more}{length}\r\n".encode() + body)
