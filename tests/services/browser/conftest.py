from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import ip_address
from typing import Any

import pytest
import pytest_asyncio

from forebay.services.browser import INSTALL, Browser, find_browser, open_browser
from forebay.services.egress import Egress, Unreachable, open_egress
from forebay.services.egress.addresses import Address
from forebay.settings import Settings
from tests.corpus.certificates import Certificates, certificates
from tests.corpus.site import Site, serving

Opened = Callable[..., AbstractAsyncContextManager[Browser]]


class World:
    """A DNS of the tests' own: *.good.test is the corpus, *.bad.test somebody's private network."""

    def __init__(self) -> None:
        self.answers: dict[str, list[str]] = {}

    async def resolve(self, host: str, lookups: asyncio.Semaphore | None = None) -> Sequence[Address]:
        if scripted := self.answers.get(host):
            return [ip_address(scripted.pop(0) if len(scripted) > 1 else scripted[0])]
        if host.endswith("good.test"):
            return [ip_address("127.0.0.1")]
        if host.endswith("bad.test"):
            return [ip_address("10.0.0.1")]
        raise Unreachable("no_such_host", f"the host {host} does not exist")


@pytest.fixture(scope="session")
def trust() -> Certificates:
    return certificates("good.test")


@pytest.fixture(scope="module")
def site(trust: Certificates) -> Iterator[Site]:
    with serving(trust.contexts) as site:
        yield site


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture(scope="session", autouse=True)
def _chromium() -> None:
    if find_browser(Settings()) is None:
        pytest.skip(f"no Chromium is installed: {INSTALL}")


def settings_of(trust: Certificates, **given: Any) -> Settings:
    trusted = f"--ignore-certificate-errors-spki-list={','.join(trust.fingerprints)}"
    allowed = {"egress_allow_networks": "127.0.0.0/8", "browser_args": trusted}
    return Settings(_env_file=None, **(allowed | given))  # type: ignore[call-arg]


@pytest.fixture(scope="module")
def opened(trust: Certificates, world: World) -> Opened:
    """Opens a browser with settings of the test's own."""

    @asynccontextmanager
    async def opens(**given: Any) -> AsyncIterator[Browser]:
        settings = settings_of(trust, **given)
        async with open_egress(settings, world) as egress, open_browser(settings, egress) as browser:
            yield browser

    return opens


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def egress(trust: Certificates, world: World) -> AsyncIterator[Egress]:
    async with open_egress(settings_of(trust), world) as egress:
        yield egress


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(trust: Certificates, egress: Egress) -> AsyncIterator[Browser]:
    """One browser for all tests of a module: as in life, each capture must leave nothing for the next."""
    async with open_browser(settings_of(trust), egress) as browser:
        yield browser
