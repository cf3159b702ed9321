"""What the browser says when it cannot."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forebay.errors import ConfigError, PermanentError, TransientError
from forebay.services.browser import INSTALL, browser, executable, require_browser, tab
from forebay.services.browser.capturing import Capturing
from forebay.services.browser.devtools import ProtocolError
from forebay.services.browser.failures import load_error
from forebay.services.browser.tab import Tab
from forebay.services.egress import Limits, Unreachable, UrlNotFound
from forebay.services.egress.grants import Grant, TrafficCounts
from forebay.settings import Settings
from tests.corpus.site import Site
from tests.services.browser.conftest import Opened


def test_a_machine_without_chromium_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executable, "find_browser", lambda settings: None)
    with pytest.raises(ConfigError) as refused:
        require_browser(Settings())
    assert str(refused.value) == f"Chromium is not installed; on Debian or Ubuntu: {INSTALL}"
    with pytest.raises(ConfigError, match="is /nowhere, which is not a program: fix or unset it"):
        require_browser(Settings(browser_path=Path("/nowhere")))


async def test_pages_that_go_away_or_keep_it_busy(opened: Opened, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://good.test:{site.port}/plain"

    async def gone(self: Capturing) -> None:
        raise ProtocolError("No target with given id found")

    async def busy(self: Capturing) -> None:
        await asyncio.Event().wait()

    async with opened() as running:
        monkeypatch.setattr(Capturing, "run", gone)
        with pytest.raises(TransientError, match="the page was closed during the capture: No target"):
            await running.capture(url)
        monkeypatch.setattr(Capturing, "run", busy)
        monkeypatch.setattr(browser, "_SLACK_S", 0.9)
        with pytest.raises(TransientError, match="the page kept the browser busy for 1 s"):
            await running.capture(url, timeout=0.1)


async def test_a_page_without_rest(opened: Opened, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Tab.evaluate

    async def restless(self: Tab, script: str, *args: object) -> object:
        if "outerHTML" in script:
            raise ProtocolError("Cannot find context with specified id")
        return await asked(self, script, *args)

    monkeypatch.setattr(Tab, "evaluate", restless)
    async with opened() as running:
        with pytest.raises(TransientError, match="the page keeps navigating to other URLs"):
            await running.capture(f"http://good.test:{site.port}/plain")


async def test_a_browser_that_opens_no_page_is_replaced(
    opened: Opened, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://good.test:{site.port}/plain"
    async with opened() as running:
        monkeypatch.setattr(tab, "_OPENS_WITHIN", 0)
        with pytest.raises(TransientError, match="the browser did not open a page in time"):
            await running.capture(url)
        monkeypatch.undo()
        assert (await running.capture(url)).title == "Plain words"
        assert running.started == 2


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_host_that_does_not_exist_is_not_found(opened: Opened, scheme: str) -> None:
    async with opened() as running:
        with pytest.raises(UrlNotFound, match=r"^the host gone\.invalid does not exist$"):
            await running.capture(f"{scheme}://gone.invalid/")


async def test_a_page_moves_no_more_than_it_may(opened: Opened, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever way its scripts take: all of its connections end."""
    monkeypatch.setattr(browser, "MOST_BYTES_DOWN", 1000)
    async with opened() as running:
        with pytest.raises(PermanentError, match="more than 1000 bytes came in"):
            await running.capture(f"http://good.test:{site.port}/article")


def test_failures_are_told_in_the_words_of_the_guard() -> None:
    grant = Grant("test", Limits(), "127.0.0.1", 1, "p1", TrafficCounts())
    grant.note_failure("slow.test", Unreachable("dns", "the name slow.test could not be resolved within 10 s"))
    told = load_error("https://slow.test/x", "net::ERR_TUNNEL_CONNECTION_FAILED", grant)
    assert (type(told), str(told)) == (Unreachable, "the name slow.test could not be resolved within 10 s")
