"""The DevTools protocol over a socket whose other end the test holds."""

from __future__ import annotations

import asyncio
import socket

import pytest

from forebay.services.browser.devtools import BrowserGone, DevToolsConnection


async def test_calls_fail_when_the_browser_ends_and_afterwards() -> None:
    ours, browser = socket.socketpair()
    _, devtools = await asyncio.get_running_loop().create_connection(DevToolsConnection, sock=ours)
    with browser:
        call = asyncio.create_task(devtools.call("Target.getTargets"))
        browser.setblocking(False)
        assert b"Target.getTargets" in await asyncio.get_running_loop().sock_recv(browser, 4096)
    with pytest.raises(BrowserGone, match="the browser has ended"):
        await call
    assert not devtools.is_open
    with pytest.raises(BrowserGone, match="the browser has ended"):
        await devtools.call("Target.getTargets")
