"""Where a webhook may reach: the public internet, and networks that the installation allows by name."""

import socket
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from core.errors import InvalidField

MAX_URL = 2_048

Address = IPv4Address | IPv6Address
# A gateway in front of us would translate these to the IPv4 address in their last four bytes.
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ip_network("::/96")


def is_allowed(text: str, allowed: Sequence[IPv4Network | IPv6Network] | None = None) -> bool:
    """Whether this address may be connected to: every address that it stands for is public, or in an allowed network."""
    networks = settings.WEBHOOK_ALLOWED_NETWORKS if allowed is None else allowed
    address = ip_address(text.partition("%")[0])
    if _is_in(address, networks):
        return True
    meant = list(_embedded(address))
    if meant:
        return all(_is_public(each) or _is_in(each, networks) for each in meant)
    return _is_public(address)


def _is_in(address: Address, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    return any(address in network for network in networks)


def _is_public(address: Address) -> bool:
    """Not loopback, link-local (metadata services), private, shared, multicast, reserved or unspecified."""
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded(address: Address) -> Iterator[IPv4Address]:
    """IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        yield IPv4Address(int(address) & 0xFFFFFFFF)


def check_url(url: str, field: str) -> str:
    """The URL itself. Raises InvalidField; names are looked up when there is something to send, each time."""
    parts = _split(url, field)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidField("An http or https URL with a host is needed.", field=field)
    if parts.username is not None or parts.password is not None:
        raise InvalidField("Credentials do not belong into a URL; requests are signed.", field=field)
    if parts.fragment:
        raise InvalidField("A fragment is never sent.", field=field)
    if not _may_be_reached(parts.hostname):
        raise InvalidField("This address is not allowed (TOWPATH_WEBHOOK_ALLOWED_NETWORKS).", field=field)
    return url


def _split(url: str, field: str) -> SplitResult:
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise InvalidField(f"Up to {MAX_URL} printable ASCII characters without spaces.", field=field)
    try:
        parts = urlsplit(url)
        if parts.port == 0:
            raise ValueError
    except ValueError:
        raise InvalidField("This is not a URL.", field=field) from None
    return parts


def _may_be_reached(host: str) -> bool:
    """What can be told without looking a name up: addresses in whatever spelling a resolver takes, and localhost."""
    name = host.removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return any(is_allowed(loopback) for loopback in ("127.0.0.1", "::1"))
    try:
        return is_allowed(host)
    except ValueError:
        pass
    try:
        return is_allowed(socket.inet_ntoa(socket.inet_aton(name)))  # 127.1, 2130706433, 0x7f.1, 0177.0.0.1
    except OSError:  # a name
        return True
