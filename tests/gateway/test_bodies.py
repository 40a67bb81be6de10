"""Limits are applied while reading; whatever a client sends, the answer is one of ours."""

import json
import socket
from collections.abc import Iterator

import pytest

from tests.patience import PATIENCE
from tests.serving import Server

LIMIT = 4 * 1024 * 1024


def said(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


@pytest.fixture
def line(toy_server: Server) -> Iterator[socket.socket]:
    with toy_server.connect() as connection:
        connection.settimeout(PATIENCE)
        yield connection


def test_it_takes_a_body_at_the_limit_and_refuses_one_byte_more(toy_server: Server) -> None:
    fits = toy_server.request("POST", "/v1/slow/echo", b"x" * LIMIT)
    assert (fits.status, json.loads(fits.content)["length"]) == (200, LIMIT)
    over = toy_server.request("POST", "/v1/slow/echo", b"x" * (LIMIT + 1))
    error = json.loads(over.content)["error"]
    assert (over.status, error["code"], error["details"]) == (413, "TOO_LARGE", {"max": LIMIT})


def test_it_refuses_an_announced_body_without_reading_it(line: socket.socket) -> None:
    line.sendall(
        b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n"
    )
    answer = said(line)
    assert answer.startswith(b"HTTP/1.1 413") and b"100 Continue" not in answer


def test_it_refuses_an_endless_body_in_chunks_and_closes(line: socket.socket) -> None:
    line.sendall(b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    sent = 0
    try:
        while sent < 40 * LIMIT:
            line.sendall(chunk)
            sent += 65_536
    except OSError:
        pass
    assert LIMIT <= sent < 10 * LIMIT  # what fits into the sockets' buffers beyond the limit


def test_a_body_that_is_too_long_is_refused_before_any_of_it_came(line: socket.socket) -> None:
    """And what the client sends then, not having looked, is no fault to it."""
    line.sendall(b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5242880\r\n\r\n")
    answer = b""
    while b'"TOO_LARGE"' not in answer:
        answer += line.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 413") and b"connection: close" in answer.lower()
    for _ in range(80):
        line.sendall(b"x" * 65_536)
    assert line.recv(1) == b""


def test_of_two_framings_the_chunks_count_and_the_connection_ends(line: socket.socket) -> None:
    line.sendall(
        b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    line.sendall(b"3\r\nabc\r\n0\r\n\r\nGET /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = said(line)
    assert answer.startswith(b"HTTP/1.1 200") and b'"length": 3' in answer and answer.count(b"HTTP/1.1 200") == 1


def test_enveloped_paths_are_refused_in_their_envelope(toy_server: Server) -> None:
    over = toy_server.request("POST", "/v1/event-queues/q/events", b"x" * (LIMIT + 1))
    answer = json.loads(over.content)
    assert (answer["code"], answer["data"], answer["error"]["code"]) == (413, None, "TOO_LARGE")
    assert over.headers["X-Request-Id"] == answer["requestId"]


def test_it_continues_a_client_that_asks_first(line: socket.socket) -> None:
    line.sendall(b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    assert line.recv(1024).startswith(b"HTTP/1.1 100")
    line.sendall(b"ok")
    assert line.recv(65_536).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: -1",
        b"Content-Length: 1e3",
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0",
        b"Transfer-Encoding: chunked\r\n\r\nZZ\r\nnonsense",
        b"X-Long: " + b"a" * 1_000_000,
        b"\r\n".join(b"X-%d: a" % number for number in range(2_000)),
        b"X-Request-Id: " + b"\xff\xfe" * 20,
        b"X_Forwarded_For: 10.0.0.1",
        b"Host: evil.example",
        b"Cookie: a=\xe9; b",
        b"Authorization: Bearer \x01",
        b"X-Bare\r\n",
        b"Expect: something-else",
    ],
)
def test_absurd_headers_get_an_answer_below_500(toy_server: Server, line: socket.socket, head: bytes) -> None:
    try:
        line.sendall(b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + head + b"\r\n\r\n")
        answer = said(line)
    except ConnectionError:
        answer = b"- 400"  # refused by closing, in the middle of what was being sent
    assert 200 <= int(answer.split(b" ")[1]) < 500, answer[:200]
    assert toy_server.get("/healthz").status == 200


@pytest.mark.parametrize(
    "target", [b"/%ff%fe", b"/v1/%00", b"//v1/../x", b"*", b"http://other/v1/slow/echo", b"/v1/slow/echo?%ff=\xe9"]
)
def test_absurd_targets_get_an_answer_below_500(line: socket.socket, target: bytes) -> None:
    line.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert 200 <= int(said(line).split(b" ")[1]) < 500


def test_a_body_that_ends_too_early_stops_nothing(toy_server: Server, line: socket.socket) -> None:
    line.sendall(b"POST /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
    line.close()
    assert toy_server.request("POST", "/v1/slow/echo", b"whole").status == 200


def test_a_header_with_an_underscore_does_not_pose_as_another(toy_server: Server) -> None:
    answer = toy_server.request("GET", "/v1/slow/echo", headers={"X_Request_Id": "spoofed", "X-Mine": "1"})
    assert "spoofed" not in answer.content.decode() and json.loads(answer.content)["headers"]["X-Mine"] == "1"


def test_head_has_the_headers_of_get_and_no_body(line: socket.socket) -> None:
    line.sendall(b"HEAD /v1/slow/echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = said(line).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200") and b"content-length: 0" not in head.lower() and body == b""
