"""Every answer has its request id, every request one line in the log, and no secret stands in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tests.gateway.toys
from tests.patience import until
from tests.serving import ROOT, Server

Lines = Callable[[Server, str], list[dict[str, Any]]]


def test_the_clients_request_id_is_answered_and_logged_once(toy_server: Server, log_lines: Lines) -> None:
    answer = toy_server.get(
        "/v1/hot/echo?grant=tpg_secret&limit=1", **{"X-Request-Id": "mine-1", "Authorization": "Bearer tpk_x"}
    )
    assert answer.headers["X-Request-Id"] == "mine-1"
    until(lambda: log_lines(toy_server, "mine-1"))
    (line,) = log_lines(toy_server, "mine-1")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/v1/hot/echo", 200)
    assert "tpg_secret" not in toy_server.log() and "tpk_x" not in toy_server.log()


def test_an_unusable_request_id_is_replaced(toy_server: Server) -> None:
    answer = toy_server.get("/v1/nothing", **{"X-Request-Id": "a b" * 100})
    assert len(answer.headers["X-Request-Id"]) == 36
    assert json.loads(answer.content)["requestId"] == answer.headers["X-Request-Id"]  # type: ignore[attr-defined]


def test_a_fault_in_a_view_is_a_500_in_our_shape_and_logged_with_its_request(toy_server: Server, log_lines: Lines) -> None:
    answer = toy_server.get("/v1/event-queues/crash?grant=tpg_hidden", **{"X-Request-Id": "crash-1"})
    body = json.loads(answer.content)  # type: ignore[attr-defined]
    assert (answer.status, body["code"], body["error"]["code"], body["requestId"]) == (500, 500, "INTERNAL", "crash-1")
    until(lambda: len(log_lines(toy_server, "crash-1")) == 2)
    assert any("a fault in a view" in line.get("exception", "") for line in log_lines(toy_server, "crash-1"))
    assert "tpg_hidden" not in toy_server.log()


def test_long_and_short_streamed_answers_arrive_whole(toy_server: Server) -> None:
    assert len(toy_server.get("/v1/download?blocks=100").content) == 100 * 65_536  # type: ignore[attr-defined]
    assert toy_server.get("/v1/source").content == Path(tests.gateway.toys.__file__).read_bytes()  # type: ignore[attr-defined]


def test_static_files_come_with_the_pages(toy_server: Server) -> None:
    answer = toy_server.get("/static/admin/css/base.css")
    assert (answer.status, answer.headers["Content-Type"]) == (200, 'text/css; charset="utf-8"')


def test_pages_pass_all_middleware_and_programs_a_few(toy_server: Server) -> None:
    assert "X-Frame-Options" in toy_server.get("/page").headers
    assert "X-Frame-Options" not in toy_server.get("/v1/slow/echo").headers
    refused = toy_server.get("/v1/slow/echo", Host="evil.example")
    error = json.loads(refused.content)["error"]  # type: ignore[attr-defined]
    assert (refused.status, error["details"]) == (400, {"field": "Host"})
    assert "ALLOWED_HOSTS" in error["message"]


def test_whether_the_process_lives_can_only_be_asked(toy_server: Server) -> None:
    assert toy_server.request("HEAD", "/healthz").status == 200
    answer = toy_server.request("POST", "/healthz", b"{}")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert json.loads(answer.content)["error"]["code"] == "METHOD_NOT_ALLOWED"  # type: ignore[attr-defined]


def test_a_server_has_loaded_its_views_before_it_takes_requests() -> None:
    """The first requests would wait for that longer than any may wait for a thread, and be refused."""
    code = (
        "import django; django.setup(); from django.urls import get_resolver; from gateway.dispatch import Django;"
        "before = 'url_patterns' in vars(get_resolver()); Django([]); print(before, 'url_patterns' in vars(get_resolver()))"
    )
    environment = {**os.environ, "PYTHONPATH": f"platform{os.pathsep}.", "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
