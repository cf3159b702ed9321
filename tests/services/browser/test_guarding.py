"""Nothing that a page does gets past the guard of the way out, in its own network or only behind the proxy."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from forebay.services.browser import Browser, Capture
from forebay.services.egress import InvalidUrl, Refused
from tests.corpus.site import Site
from tests.services.browser.conftest import Opened, World

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[True, False], ids=["confined", "unconfined"])
async def guarded(opened: Opened, request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    # Without walls only where somebody has said so: a browser that must be sandboxed gets no network then.
    async with opened(egress_confine=request.param, sandbox=None if request.param else "preferred") as browser:
        yield browser


async def captured(browser: Browser, site: Site, path: str) -> Capture:
    return await browser.capture(f"http://good.test:{site.port}{path}", timeout=60)


async def test_all_that_a_page_can_try(guarded: Browser, site: Site) -> None:
    seen = await captured(guarded, site, "/sneaky")
    refused = {refusal.host.partition(".")[0] for refusal in seen.refusals}
    assert {"style", "image", "frame", "prefetch", "fetch", "redirect", "beacon", "socket", "169"} <= refused
    assert {refusal.code for refusal in seen.refusals} == {"address"}
    told = seen.html.partition("done: ")[2].partition("<")[0].split()
    assert not {"socket", "rtc"} & set(told)  # fetch sees an answer that it cannot read: the refusal


async def test_web_rtc_sends_nothing_around_the_proxy(guarded: Browser, site: Site) -> None:
    """A server for STUN on this machine: where there is no network of its own, only the policy keeps them apart."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
        stun.bind(("127.0.0.1", 0))
        stun.setblocking(False)
        await captured(guarded, site, f"/calls?stun=127.0.0.1:{stun.getsockname()[1]}")
        with pytest.raises(BlockingIOError):
            stun.recv(100)


async def test_web_transport_sends_nothing_around_the_proxy(guarded: Browser, site: Site) -> None:
    """QUIC is UDP; only a page that came by HTTPS may try it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as canary:
        canary.bind(("127.0.0.1", 0))
        canary.setblocking(False)
        place = f"https://good.test:{site.tls_ports['good']}/calls?stun=127.0.0.1:{canary.getsockname()[1]}"
        seen = await guarded.capture(place, timeout=60)
        assert "no transport" in seen.html  # it was tried
        with pytest.raises(BlockingIOError):
            canary.recv(100)


async def test_web_sockets(guarded: Browser, site: Site) -> None:
    assert "socket: hello" in (await captured(guarded, site, "/listening")).html
    seen = await captured(guarded, site, "/listening?target=ws://socket.bad.test/")
    assert "socket: refused" in seen.html
    assert [refusal.host for refusal in seen.refusals] == ["socket.bad.test"]


async def test_service_workers(guarded: Browser, site: Site) -> None:
    place = f"https://good.test:{site.tls_ports['good']}"
    assert "worker: Rain upstream" in (await guarded.capture(f"{place}/worker", timeout=60)).html
    seen = await guarded.capture(f"{place}/worker?target=https://worker.bad.test/", timeout=60)
    assert "worker: refused" in seen.html
    assert [refusal.host for refusal in seen.refusals] == ["worker.bad.test"]


async def test_secure_web_sockets(guarded: Browser, site: Site) -> None:
    place = f"good.test:{site.tls_ports['good']}"
    seen = await guarded.capture(f"https://{place}/listening?target=wss://{place}/socket", timeout=60)
    assert "socket: hello" in seen.html


@pytest.mark.parametrize(
    "target",
    [
        "http://bad.test/",
        "https://bad.test/",
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",
    ],
)
async def test_addresses_that_nobody_may_see(guarded: Browser, site: Site, target: str) -> None:
    with pytest.raises(Refused):
        await guarded.capture(target)
    with pytest.raises(Refused):
        await captured(guarded, site, f"/elsewhere?to={target}")
    with pytest.raises(Refused):
        await captured(guarded, site, f"/leaves?to={target}")


async def test_names_that_change_their_mind(guarded: Browser, site: Site, world: World) -> None:
    world.answers["rebind.test"] = ["127.0.0.1", "10.0.0.1"]
    place = f"http://rebind.test:{site.port}"
    assert (await guarded.capture(f"{place}/plain", timeout=60)).status == 200
    with pytest.raises(Refused, match="has no public address"):
        await guarded.capture(f"{place}/plain", timeout=60)


@pytest.mark.parametrize(
    "text",
    ["file:///etc/passwd", "javascript:alert(1)", "chrome://version", "http://a\\b/", "http://u:p@good.test/", ""],
)
async def test_what_is_no_address(guarded: Browser, text: str) -> None:
    with pytest.raises(InvalidUrl):
        await guarded.capture(text)


async def test_each_capture_has_refusals_of_its_own(guarded: Browser, site: Site) -> None:
    one, other = await asyncio.gather(
        captured(guarded, site, "/sneaky"), captured(guarded, site, "/listening?target=ws://mine.bad.test/")
    )
    assert [refusal.host for refusal in other.refusals] == ["mine.bad.test"]
    assert "mine.bad.test" not in {refusal.host for refusal in one.refusals}
