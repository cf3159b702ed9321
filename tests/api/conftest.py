"""A running service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api._service import Service, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def service(dsn: str) -> AsyncIterator[Service]:
    async with serving(dsn) as running:
        yield running
