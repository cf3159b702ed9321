"""The SSRF check of addresses: only public ones are allowed, in whatever notation.

The lists come from IANA's special-purpose registries: `is_global` of `ipaddress` differs between releases of Python.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_CLOSED_4 = [
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.100.100.200/32", "a cloud's metadata"),  # Alibaba
        ("100.64.0.0/10", "of a carrier's own network"),
        ("127.0.0.0/8", "this machine"),
        ("168.63.129.16/32", "a cloud's metadata"),  # Azure; in a public range
        ("169.254.0.0/16", "link-local, where clouds keep their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
    )
]
_CLOSED_6 = [
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::1/128", "this machine"),
        ("64:ff9b:1::/48", "of a local NAT64"),
        ("100::/64", "a black hole"),
        ("2001::/23", "reserved for protocols"),  # Teredo, ORCHID and benchmarks among them
        ("2001:db8::/32", "for documentation"),
        ("3fff::/20", "for documentation"),
        ("fd00:ec2::/32", "a cloud's metadata"),  # Amazon
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
]
_INTERNAL = {"private", "this machine", "of a carrier's own network"}  # where an operator may have services
_PUBLIC_6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
_TRANSLATED = IPv6Network("::ffff:0:0:0/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


def parse_address(text: str) -> Address | None:
    """Parse an address in the usual notation, without a zone; None for anything else."""
    try:
        return plain_address(ip_address(text.partition("%")[0]))
    except ValueError:
        return None


def plain_address(address: Address) -> Address:
    """Convert an IPv4-mapped IPv6 address (::ffff:1.2.3.4) to IPv4."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def why_closed(address: Address, allowed: Sequence[Network] = (), *, internal: bool = False) -> str | None:
    """Why an address is not allowed, as words that follow "is"; None when it is allowed.

    `internal` allows this machine and private networks, but neither cloud metadata nor reserved addresses.
    """
    kind = _kind(address, allowed, internal=internal)
    return None if internal and kind in _INTERNAL else kind


def _kind(address: Address, allowed: Sequence[Network], *, internal: bool) -> str | None:
    address = plain_address(address)
    if any(address in network for network in allowed if network.version == address.version):
        return None
    if isinstance(address, IPv4Address):
        return next((kind for network, kind in _CLOSED_4 if address in network), None)
    for inner in embedded(address):
        if kind := why_closed(inner, allowed, internal=internal):
            return f"{inner} inside IPv6, {kind}"
    if address in _NAT64:
        return None
    kind = next((kind for network, kind in _CLOSED_6 if address in network), None)
    return kind or (None if address in _PUBLIC_6 else "not public")


def embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """All IPv4 addresses to which a router or gateway may translate an IPv6 address."""
    number = int(address)
    low = IPv4Address(number & 0xFFFFFFFF)
    special = address.is_unspecified or address.is_loopback
    if not special and (address in _NAT64 or address in _COMPATIBLE or address in _TRANSLATED):
        yield low
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    if (number >> 32) & 0xFFFFFFFF in _ISATAP:
        yield low
