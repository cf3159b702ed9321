from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from forebay.services.egress import Egress, Http, open_egress, open_http
from forebay.settings import Settings
from tests.services.egress._world import Names

Opened = Callable[..., AbstractAsyncContextManager[Egress]]


@pytest.fixture
def names() -> Names:
    """good.test is a server of the test's own, bad.test is in somebody's private network."""
    known = Names()
    known.put("good.test", "127.0.0.1")
    known.put("bad.test", "10.0.0.1")
    return known


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def opened(names: Names, authority: trustme.CA, tmp_path: Path) -> Opened:
    """Opens a way out with settings of the test's own; unconfined unless it says otherwise, which is faster."""
    bundle = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(bundle))

    @asynccontextmanager
    async def opens(**settings: Any) -> AsyncIterator[Egress]:
        given: dict[str, Any] = {"egress_allow_networks": "127.0.0.0/8", "egress_confine": False}
        given |= {"egress_ca_file": bundle} | settings
        async with open_egress(Settings(**given), names) as egress:
            yield egress

    return opens


@pytest.fixture
async def egress(opened: Opened) -> AsyncIterator[Egress]:
    async with opened() as egress:
        yield egress


@pytest.fixture
async def http(egress: Egress) -> AsyncIterator[Http]:
    async with open_http(egress) as http:
        yield http
