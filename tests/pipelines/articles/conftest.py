"""The API, on a database that the tests of a module share: each has articles of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest_asyncio

from forebay.pipelines.articles.steps import articles
from tests.api._service import Service, serving

if TYPE_CHECKING:
    from tests.conftest import NewDatabase


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def service(new_database: NewDatabase) -> AsyncIterator[Service]:
    with new_database() as dsn:
        async with serving(dsn, articles) as running:
            yield running
