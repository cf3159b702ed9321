"""Public addresses are reached, and no others, however they are dressed up."""

# demands: S1-111, X-05

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.services.egress.addresses import embedded, parse_address, plain_address, why_closed
from forebay.setting_formats import networks

fours = st.ip_addresses(v=4)
sixes = st.ip_addresses(v=6)
PRIVATE = [
    ip_network(text)
    for text in ("10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "100.64.0.0/10", "192.168.0.0/16", "224.0.0.0/3")
]
closed_fours = st.sampled_from(PRIVATE).flatmap(
    lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv4Address)
)

# How IPv4 is written inside IPv6, by those who route it.
DRESSES = {
    "mapped": lambda four: IPv6Address(0xFFFF << 32 | int(four)),
    "compatible": lambda four: IPv6Address(int(four)),
    "translated": lambda four: IPv6Address(0xFFFF << 48 | int(four)),
    "nat64": lambda four: IPv6Address(int(IPv6Address("64:ff9b::")) | int(four)),
    "local nat64": lambda four: IPv6Address(int(IPv6Address("64:ff9b:1::")) | int(four)),
    "6to4": lambda four: IPv6Address(0x2002 << 112 | int(four) << 80 | 1),
    "teredo server": lambda four: IPv6Address(0x20010000 << 96 | int(four) << 64 | 0xF7F7F7F7),
    "teredo client": lambda four: IPv6Address(0x20010000 << 96 | 0x08080808 << 64 | (int(four) ^ 0xFFFFFFFF)),
    "isatap": lambda four: IPv6Address(int(IPv6Address("2606:4700::5efe:0:0")) | int(four)),
}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0.0.0.0", "unspecified"),
        ("10.1.2.3", "private"),
        ("100.64.0.1", "of a carrier's own network"),
        ("100.100.100.200", "a cloud's metadata"),
        ("127.0.0.1", "this machine"),
        ("127.8.8.8", "this machine"),
        ("168.63.129.16", "a cloud's metadata"),
        ("169.254.169.254", "link-local, where clouds keep their metadata"),
        ("172.31.255.255", "private"),
        ("192.0.0.192", "reserved for protocols"),
        ("192.168.0.1", "private"),
        ("198.18.0.1", "for benchmarks"),
        ("198.51.100.7", "for documentation"),
        ("224.0.0.1", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::1", "this machine"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fec0::1", "site-local"),
        ("fc00::1", "private"),
        ("fd00:ec2::254", "a cloud's metadata"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "for documentation"),
        ("3fff::1", "for documentation"),
        ("2001:2::1", "reserved for protocols"),
        ("100::1", "a black hole"),
        ("4000::1", "not public"),
        ("5f00::1", "not public"),
        ("64:ff9b:1::808:808", "of a local NAT64"),
        ("::ffff:127.0.0.1", "this machine"),
        ("::127.0.0.1", "127.0.0.1 inside IPv6, this machine"),
        ("64:ff9b::a9fe:a9fe", "169.254.169.254 inside IPv6, link-local, where clouds keep their metadata"),
        ("2002:7f00:1::1", "127.0.0.1 inside IPv6, this machine"),
    ],
)
def test_closed(text: str, kind: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert why_closed(address) == kind


@pytest.mark.parametrize(
    "text", ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_open(text: str) -> None:
    assert why_closed(ip_address(text)) is None


@given(fours)
def test_what_is_open_is_global(address: IPv4Address) -> None:
    if why_closed(address) is None:
        assert address.is_global
        assert not any((address.is_multicast, address.is_reserved, address.is_unspecified))


@given(sixes)
def test_what_is_open_is_global_in_ipv6(address: IPv6Address) -> None:
    if why_closed(address) is None:
        assert address in IPv6Network("2000::/3") or address in IPv6Network("64:ff9b::/96") or address.ipv4_mapped
        assert all(why_closed(inner) is None for inner in embedded(address))


@pytest.mark.parametrize("dress", DRESSES)
@given(closed_fours)
def test_closed_in_every_dress(dress: str, address: IPv4Address) -> None:
    assert why_closed(address)
    assert why_closed(DRESSES[dress](address))


@given(fours)
def test_mapped_is_the_same(address: IPv4Address) -> None:
    mapped = DRESSES["mapped"](address)
    assert plain_address(mapped) == address
    assert why_closed(mapped) == why_closed(address)
    assert parse_address(str(mapped)) == address


@given(fours)
def test_nat64_is_judged_as_what_it_leads_to(address: IPv4Address) -> None:
    assert (why_closed(DRESSES["nat64"](address)) is None) == (why_closed(address) is None)


def test_networks_of_ones_own() -> None:
    allowed = networks("10.0.0.0/8, fd00::/8,192.168.1.1,")
    for text in ("10.1.2.3", "fd12::1", "192.168.1.1", "::ffff:10.1.2.3", "64:ff9b::a01:203"):
        assert why_closed(ip_address(text), allowed) is None
    for text in ("11.0.0.1", "1.1.1.1"):
        assert why_closed(ip_address(text), allowed) is None
    for text in ("192.168.1.2", "127.0.0.1", "fc00::1", "2002:7f00:1::1"):
        assert why_closed(ip_address(text), allowed)


@pytest.mark.parametrize("text", ["", "1", "1.2.3", "0x7f.1", "0177.0.0.1", "1.2.3.4.5", "::g", "good.test"])
def test_no_addresses(text: str) -> None:
    assert parse_address(text) is None
