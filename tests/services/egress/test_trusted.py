"""Places that the operator has named: open for their purpose, wherever they are, and for nothing else."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

import pytest
import trustme

from forebay.services.egress import Egress, FetchRequest, Http, InvalidUrl, Origin, Policy, Refused, open_http
from forebay.services.egress.addresses import why_closed
from forebay.settings import Settings
from tests.services.egress._world import Names, answering, certified, hearing, raw, reply
from tests.services.egress.conftest import Opened
from tests.services.egress.test_http import moved
from tests.services.egress.test_proxy import ask, connecting, echoing, getting, head_of


def wanted(url: str, trusted: Origin | None, purpose: str = "captions") -> FetchRequest:
    return FetchRequest(url, purpose, 1000, 30, trusted=trusted)


# Which places those are.


@pytest.mark.parametrize(
    ("url", "origin", "text"),
    [
        ("http://LocalHost/v1", Origin("http", "localhost", 80), "http://localhost"),
        ("https://[::1]:8443/v1", Origin("https", "::1", 8443), "https://[::1]:8443"),
        ("ftp://ann@files.test/in", Origin("ftp", "files.test", 21), "ftp://files.test"),
        ("ftp://ann:pw@[::1]/in", Origin("ftp", "::1", 21), "ftp://[::1]"),
        ("sftp://files.test:2222/in", Origin("sftp", "files.test", 2222), "sftp://files.test:2222"),
    ],
)
def test_origins(url: str, origin: Origin, text: str) -> None:
    assert Origin.of(url) == origin
    assert str(origin) == text


@pytest.mark.parametrize("url", ["gopher://a.test/", "ftp:///in", "sftp://a.test:0/", "http://0x7f.1/", "ftp://a b/"])
def test_what_is_no_origin(url: str) -> None:
    with pytest.raises(InvalidUrl, match="FOREBAY_X: "):
        Origin.of(url, "FOREBAY_X")


def test_what_an_origin_covers() -> None:
    plain, secret = Origin("http", "a.test", 80), Origin("https", "a.test", 443)
    assert plain.covers("a.test", 80, tunnel=False)
    assert secret.covers("a.test", 443, tunnel=True)
    for origin, port, tunnel in ((plain, 80, True), (plain, 81, False), (secret, 443, False), (secret, 8443, True)):
        assert not origin.covers("a.test", port, tunnel=tunnel)
    assert not plain.covers("b.test", 80, tunnel=False)


def test_ftp_opens_connections_for_files() -> None:
    files = Origin.of("ftp://a.test")
    assert [port for port in (21, 22, 1023, 1024, 65535) if files.covers("a.test", port, tunnel=True)] == [
        21, 1024, 65535,
    ]  # fmt: skip
    assert not Origin.of("sftp://a.test").covers("a.test", 5000, tunnel=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "100.64.0.1", "::1", "fd12::1", "1.1.1.1"])
def test_internal_addresses(address: str) -> None:
    assert why_closed(ip_address(address), internal=True) is None


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fe80::1", "0.0.0.0", "224.0.0.1",
     "64:ff9b::a9fe:a9fe"],
)  # fmt: skip
def test_metadata_stays_closed(address: str) -> None:
    assert why_closed(ip_address(address), internal=True) is not None


def test_the_lists_of_hosts_and_ports() -> None:
    policy = Policy.of(Settings(egress_allow_hosts="example.com", egress_deny_hosts="no.test", egress_ports="443"))
    policy.check_host("localhost", 21, trusted=True)
    with pytest.raises(Refused, match=r"no\.test is in FOREBAY_EGRESS_DENY_HOSTS"):
        policy.check_host("no.test", 443, trusted=True)


# The proxy.


async def test_a_pass_opens_its_origin_only(opened: Opened, names: Names) -> None:
    names.put("other.test", "127.0.0.1")
    async with opened(egress_allow_networks="") as egress, answering(reply("hello")) as site, answering() as near:
        with egress.grant("captions", trusted=[Origin("http", "good.test", site.port)]) as grant:
            assert (await ask(egress, getting(grant, f"http://good.test:{site.port}/")))[::2] == (200, b"hello")
            for other in (
                getting(grant, f"http://good.test:{near.port}/"),
                getting(grant, f"http://other.test:{site.port}/"),
                getting(grant, f"http://127.0.0.1:{site.port}/"),
                connecting(grant, f"good.test:{site.port}"),
            ):
                assert (await ask(egress, other))[0] == 403
            assert {refusal.code for refusal in grant.refusals} == {"address"}
        with egress.grant("crawling") as grant:
            assert (await ask(egress, getting(grant, f"http://good.test:{site.port}/")))[0] == 403
    assert (len(site.heads), len(near.heads)) == (1, 0)


async def test_a_connection_is_not_shared_by_passes(opened: Opened) -> None:
    """A client without the grant cannot use the connection of one that has it, on the same wire."""
    async with opened(egress_allow_networks="") as egress, answering(reply("hello")) as site:
        url = f"http://good.test:{site.port}/"
        with egress.grant("a", trusted=[Origin.of(url)]) as first, egress.grant("b") as second:
            reader, writer = await raw(egress.port, getting(first, url))
            assert (await head_of(reader))[0] == 200
            await reader.readexactly(5)
            writer.write(getting(second, url))
            assert (await head_of(reader))[0] == 403
            writer.close()
    assert len(site.heads) == 1


async def test_a_tunnel_to_a_trusted_place(opened: Opened) -> None:
    async with opened(egress_allow_networks="", egress_ports="443") as egress, echoing() as port:
        with egress.grant("files", trusted=[Origin("sftp", "good.test", port)]) as grant:
            reader, writer = await raw(egress.port, connecting(grant, f"good.test:{port}"))
            assert (await head_of(reader))[0] == 200
            writer.write(b"ping")
            assert await reader.readexactly(4) == b"ping"
            writer.close()
        with egress.grant("crawling") as grant:
            assert (await ask(egress, connecting(grant, f"good.test:{port}")))[0] == 403


async def test_a_trusted_name_that_moves_to_the_metadata(opened: Opened, names: Names) -> None:
    names.put("good.test", "127.0.0.1", "169.254.169.254")
    async with opened(egress_allow_networks="") as egress, answering(reply("x", Connection="close")) as site:
        url = f"http://good.test:{site.port}/"
        with egress.grant("captions", trusted=[Origin.of(url)]) as grant:
            assert (await ask(egress, getting(grant, url)))[0] == 200
            status, _, body = await ask(egress, getting(grant, url))
    assert (status, b"has no public address" in body) == (403, True)


async def test_limits_hold_for_trusted_places(opened: Opened) -> None:
    async with opened(egress_allow_networks="", egress_max_bytes=1000) as egress, answering(reply(b"x" * 5000)) as site:
        url = f"http://good.test:{site.port}/"
        with egress.grant("captions", trusted=[Origin.of(url)]) as grant:
            with pytest.raises(asyncio.IncompleteReadError):
                await ask(egress, getting(grant, url))
            assert [refusal.code for refusal in grant.refusals] == ["bytes_down"]


async def test_the_proxy_itself_is_no_trusted_place(opened: Opened) -> None:
    async with opened(egress_allow_networks="") as egress:
        url = f"http://127.0.0.1:{egress.port}/"
        with egress.grant("captions", trusted=[Origin.of(url)]) as grant:
            status, _, body = await ask(egress, getting(grant, url))
    assert (status, body.strip().endswith(b"is the egress proxy itself")) == (403, True)


# The client.


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_service_on_this_machine(opened: Opened, authority: trustme.CA, scheme: str) -> None:
    trust = certified(authority, "good.test") if scheme == "https" else None
    async with (
        opened(egress_allow_networks="") as egress,
        open_http(egress) as http,
        answering(reply("a cat"), trust=trust) as site,
    ):
        url = f"{scheme}://good.test:{site.port}/v1"
        origin = Origin.of(url)
        assert (await http.fetch(wanted(url, origin))).content == b"a cat"
        with hearing() as logs:
            for refused in (wanted(url, None), wanted(url, Origin("http", "other.test", 80))):
                with pytest.raises(Refused, match=r"good\.test has no public address"):
                    await http.fetch(refused)
            with pytest.raises(Refused):
                await http.get(url, purpose="captions")  # the same purpose, but not the grant
        assert [log["code"] for log in logs if log["event"] == "egress_refused"] == ["address"] * 3
    assert len(site.heads) == 1


async def test_redirects_within_the_origin(opened: Opened) -> None:
    async with (
        opened(egress_allow_networks="") as egress,
        open_http(egress) as http,
        answering(moved("/b"), reply("here")) as site,
    ):
        url = f"http://good.test:{site.port}/a"
        assert (await http.fetch(wanted(url, Origin.of(url)))).content == b"here"


async def test_redirects_away_lose_the_trust(opened: Opened, names: Names) -> None:
    names.put("other.test", "127.0.0.1")
    async with opened(egress_allow_networks="") as egress, open_http(egress) as http, answering(reply("x")) as other:
        place = f"http://other.test:{other.port}/"
        async with answering(moved(place)) as site:
            url = f"http://good.test:{site.port}/"
            with pytest.raises(Refused, match=r"other\.test has no public address"):
                await http.fetch(wanted(url, Origin.of(url)))
    assert other.heads == []


async def test_redirects_that_lead_back_do_not_bring_it_back(opened: Opened, names: Names) -> None:
    """Who runs the place in between would choose what is asked of the operator's service."""
    names.put("far.test", "127.9.9.9")
    async with opened(egress_allow_networks="127.9.9.9/32") as egress, open_http(egress) as http:
        inside: list[bytes] = [b""]
        async with answering(lambda _: inside[0]) as site:
            url = f"http://good.test:{site.port}/"
            async with answering(moved(f"{url}admin?delete=all"), host="127.9.9.9") as far:
                inside[0] = moved(f"http://far.test:{far.port}/")
                with pytest.raises(Refused, match=r"good\.test has no public address"):
                    await http.fetch(wanted(url, Origin.of(url)))
            assert (len(site.heads), len(far.heads)) == (1, 1)


async def test_a_trusted_service_is_not_asked_for_robots(opened: Opened) -> None:
    async with (
        opened(egress_allow_networks="", egress_robots=True) as egress,
        open_http(egress) as http,
        answering(reply("x")) as site,
    ):
        url = f"http://good.test:{site.port}/v1"
        await http.fetch(wanted(url, Origin.of(url)))
    assert [head.split()[1] for head in site.heads] == ["/v1"]


async def test_what_was_open_stays_so(egress: Egress, http: Http) -> None:
    """Trust adds: with a network that the settings open, nothing more is needed."""
    async with answering(reply("x")) as site:
        url = f"http://good.test:{site.port}/"
        assert (await http.fetch(wanted(url, Origin.of(url)))).content == b"x"
        assert (await http.fetch(wanted(url, None))).content == b"x"
    assert egress.describe()["refused"] == {}
