"""Which addresses a webhook may reach: every way to write a private one is refused."""

import asyncio
import socket
from ipaddress import ip_network

import pytest

from apps.destinations.webhooks.address import check_url, is_allowed
from apps.destinations.webhooks.client import Client, Reply
from apps.destinations.webhooks.verdict import back_off, verdict
from core.errors import InvalidField
from tests.destinations.endpoint import Endpoint

PRIVATE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "192.0.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused_in_every_spelling(address):
    assert not is_allowed(address, [])


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"])
def test_public_ones_are_reached(address):
    assert is_allowed(address, [])


def test_an_allowed_network_is_reached_also_as_mapped_address_and_nothing_beside_it():
    networks = [ip_network("10.1.0.0/16"), ip_network("::1/128")]
    assert all(is_allowed(address, networks) for address in ("10.1.2.3", "::ffff:10.1.2.3", "::1"))
    assert not any(is_allowed(address, networks) for address in ("10.2.0.1", "127.0.0.1"))


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0"]
)
def test_other_ways_to_write_loopback_reach_nothing(host, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    with Endpoint() as endpoint:
        reply = posted(f"http://{host}:{endpoint.port}/200")
        assert reply.status is None and endpoint.requests == []


def test_a_name_that_changes_its_mind_is_connected_at_the_address_that_was_checked(settings, monkeypatch):
    """Rebinding: the first answer is allowed, every later one is not."""
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.2/32")]
    answers = iter(["127.0.0.2", "127.0.0.1", "127.0.0.1"])
    asked = []

    def resolve(host, port, *args, **kwargs):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host if host[0].isdigit() else next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with Endpoint() as endpoint:
        reply = posted(f"http://rebinding.test:{endpoint.port}/200")
        assert endpoint.requests == [] and reply.status is None
    assert asked.count("rebinding.test") == 1


def posted(url):
    async def post():
        client = Client()
        try:
            return await client.post(url, b"{}", {}, 5)
        finally:
            await client.close()

    return asyncio.run(post())


def test_delays_grow_to_an_hour_and_no_number_of_attempts_breaks_them():
    assert all(2.5 <= back_off(1) <= 5 for _ in range(20))
    assert all(1_800 <= back_off(attempt) <= 3_600 for attempt in (20, 100, 10**9))


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("120", 120), ("0", 0), ("999999999", 86_400), ("9" * 400, None), ("-1", None), ("soon", None), ("1.5", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400), ("٣", None), ("", None),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_date_and_bounded(said, wait):
    assert verdict(Reply(status=429, retry_after=said)).wait == wait


HIDDEN = [
    "localhost", "LOCALHOST.", "api.localhost", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.",
    "0", "10.1", "3232235777", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::1]", "[::127.0.0.1]", "169.254.43518",
]  # fmt: skip


@pytest.mark.parametrize("host", HIDDEN)
def test_a_url_that_certainly_leads_inside_is_refused_at_once(host, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    with pytest.raises(InvalidField):
        check_url(f"http://{host}:8080/hook", "webhook.url")


def test_a_url_that_may_lead_outside_or_to_an_allowed_network_is_taken(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    for host in (
        "hooks.example.com",
        "134744072",
        "0x08.8.8.8",
        "[::ffff:8.8.8.8]",
        "localhost.example.com",
        "notlocalhost",
    ):
        assert check_url(f"https://{host}/", "webhook.url")
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    for host in ("localhost", "127.1", "2130706433", "a.localhost"):
        assert check_url(f"http://{host}/", "webhook.url")
