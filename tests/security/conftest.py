"""One service for all tests of a module: what is tried here must leave nothing behind anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio

from tests.api._service import Service, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests._servers import Server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(server: Server, _template: str) -> AsyncIterator[Service]:
    with server.database(template=_template) as dsn:
        async with serving(dsn) as running:
            yield running
