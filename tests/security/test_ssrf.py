"""Addresses inside, in all notations, by names that change their mind, by sources and by providers: none is reached."""

# demands: S1-111, X-05

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import pytest

from forebay.errors import ConfigError, DataError
from forebay.services.egress import InvalidUrl, Policy, Refused, checked_url, dialing, open_egress
from forebay.services.egress.addresses import Address
from forebay.services.egress.dialing import Dialer
from forebay.services.products.templates import UrlTemplate
from forebay.services.sources import SourceSpec, open_source
from forebay.settings import Settings
from tests.services.egress._world import Names

INSIDE_4 = (
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "192.168.1.1",
    "172.16.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",
)
INSIDE_6 = (
    "::1",
    "fd00:ec2::254",
    "fc00::1",
    "fe80::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::1",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
)
WIDE_DIGITS = {ord("0") + digit: chr(0xFF10 + digit) for digit in range(10)}


def _notations(text: str) -> list[str]:
    """One IPv4 address as browsers, curl and C libraries may read it."""
    number = int(IPv4Address(text))
    parts = [int(part) for part in text.split(".")]
    return [
        text,
        f"{text}.",
        str(number),
        hex(number),
        f"0{number:o}",
        ".".join(f"0{part:o}" for part in parts),
        ".".join(f"{part:#x}" for part in parts),
        f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{number & 0xFFFF}",
        text.translate(WIDE_DIGITS),
        text.replace(".", "\u3002"),
        f"[::ffff:{text}]",
        f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]",
        f"[64:ff9b::{text}]",
        f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]",
        f"user@{text}",
        f"example.com@{text}",
        f"{text}%00.example.com",
        f"{text}\\@example.com",
        f"{text}%2f.example.com",
        f"{text}\t",
    ]


URLS = [
    *(f"{scheme}://{host}/" for text in INSIDE_4 for host in _notations(text) for scheme in ("http", "https")),
    *(f"{scheme}://[{text}]{port}/" for text in INSIDE_6 for scheme in ("http", "https") for port in ("", ":8080")),
    *(f"{scheme}:///etc/passwd" for scheme in ("file", "ftp", "gopher", "data", "view-source:http", "chrome", "dict")),
    "javascript:alert(1)",
    "data:text/html,<script>",
    "http:127.0.0.1",
    "http:/127.0.0.1",
    "//127.0.0.1/",
    "http://[::1%25lo]/",
    "http://[::1]@example.com/",
    "http://example.com:80@127.0.0.1/",
    "http://example.com\r\nHost: 127.0.0.1/",
]


def test_there_are_as_many_cases_as_there_were() -> None:
    assert len(URLS) > 136


def test_no_notation_leads_inside() -> None:
    policy, reached = Policy.of(Settings()), list[str]()
    for url in URLS:
        with suppress(InvalidUrl, Refused):
            policy.check_url(checked_url(url))
            reached.append(url)
    assert reached == []


@pytest.mark.parametrize("text", [*INSIDE_4, *INSIDE_6])
def test_no_name_leads_inside(text: str) -> None:
    policy = Policy.of(Settings())
    for addresses in ([text], ["1.1.1.1", text], [text, "2606:4700::1111"]):
        with pytest.raises(Refused) as refused:
            policy.check_addresses("intranet.test", [ip_address(each) for each in addresses])
        assert text not in str(refused.value)
        assert str(ip_address(text)) in refused.value.logged


async def test_what_was_checked_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is asked for, and inside a moment later: it is asked once a connection."""
    dialed: list[Sequence[Address]] = []

    async def connect(addresses: Sequence[Address], port: int) -> socket.socket:
        dialed.append(addresses)
        return socket.socket()

    monkeypatch.setattr(dialing, "connect_first", connect)
    names = Names()
    names.put("flip.test", "1.1.1.1", "127.0.0.1", "1.0.0.1", "::1")
    dialer, refused = Dialer(Policy.of(Settings()), names), 0
    for _ in range(4):
        try:
            (await dialer.dial("flip.test", 443, 5)).close()
        except Refused:
            refused += 1
    assert dialed == [[ip_address("1.1.1.1")], [ip_address("1.0.0.1")]]
    assert (refused, names.asked) == (2, ["flip.test"] * 4)


METADATA = "169.254.169.254"
DECLARED: dict[str, dict[str, Any]] = {
    "s3": {"url": "s3://bucket", "endpoint": f"http://{METADATA}", "secrets": {"access_key": "A", "secret_key": "B"}},
    "ftp": {"url": f"ftp://a@{METADATA}:2121/", "secrets": {"password": "A"}},
    "sftp": {
        "url": f"sftp://a@{METADATA}:2222/", "secrets": {"password": "A"}, "host_keys": "SHA256:" + "A" * 43,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", DECLARED)
async def test_a_source_that_is_declared_inside_does_not_reach_the_clouds_metadata(kind: str) -> None:
    """Private networks are the operator's to declare; where clouds hand out credentials is nobody's."""
    settings = Settings(egress_confine=False)
    declared = SourceSpec.model_validate({"name": "a", "owner": "ann", "timeout_s": 10} | DECLARED[kind])
    async with (
        open_egress(settings) as egress,
        open_source(declared, egress, settings, {"A": "a", "B": "b"}) as source,
    ):
        with pytest.raises(Refused, match=r"169\.254\.169\.254 is link-local"):
            [found async for found in source.list()]


async def test_a_folder_is_only_below_what_is_allowed(tmp_path: Path) -> None:
    allowed = tmp_path / "drop"
    allowed.mkdir()
    (allowed / "out").symlink_to("/etc")
    for url in ("file:///etc", f"file://{tmp_path}", f"file://{allowed}/out"):
        declared = SourceSpec.model_validate({"name": "a", "owner": "ann", "url": url})
        with pytest.raises((ConfigError, DataError)):
            async with open_source(declared, None, Settings(), roots=[allowed]) as source:
                [found async for found in source.list()]


VALUES = (
    "@127.0.0.1/", "//127.0.0.1/", "\\\\127.0.0.1\\", "../../", "..", "?url=http://127.0.0.1", "#", "\r\nHost: inside",
    ":80@127.0.0.1", "%2e%2e%2f", "{secret.key}", "http://127.0.0.1/", "\u2215\u2215127.0.0.1", "\0",
)  # fmt: skip


@pytest.mark.parametrize(
    "template", ["https://shop.test/items/{gtin}", "https://shop.test/find?q={gtin}&k={secret.key}"]
)
def test_a_row_cannot_say_where_a_provider_is_asked(template: str) -> None:
    made = UrlTemplate(template, ["gtin"], ["key"])
    for value in VALUES:
        try:
            url = checked_url(made.render({"gtin": value}, {"key": "s3cr3t"}))
        except DataError:
            continue
        assert (url.scheme, url.host, url.port) == ("https", "shop.test", 443), value
        assert url.target.startswith(("/items/", "/find?q=")), value
        assert "s3cr3t" not in url.target.partition("&")[0]


def test_a_template_has_its_host_of_its_own() -> None:
    for text in ("https://{gtin}.shop.test/", "https://shop.test:{gtin}/", "{gtin}", "https://shop.test@{gtin}/x"):
        with pytest.raises(ValueError, match=r"host|begin|place"):
            UrlTemplate(text, ["gtin"], [])


def test_addresses_that_carry_others() -> None:
    policy = Policy.of(Settings())
    for text in INSIDE_4[:-1]:
        number = int(IPv4Address(text))
        for carrying in (f"64:ff9b::{text}", f"::ffff:{text}", f"2002:{number >> 16:x}:{number & 0xFFFF:x}::"):
            with pytest.raises(Refused):
                policy.check_addresses("a.test", [IPv6Address(carrying)])
