"""One world for tests that do not need a special one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.pipelines.attachments._world import World, open_world


@pytest_asyncio.fixture(loop_scope="session")
async def world_of(dsn: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(dsn, tmp_path) as opened:
        yield opened
