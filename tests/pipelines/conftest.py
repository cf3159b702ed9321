from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.corpus.site import Site, serving
from tests.pipelines._crawl import Crawl, crawling


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
async def crawl(dsn: str, site: Site, tmp_path: Path) -> AsyncIterator[Crawl]:
    """Without a browser: screenshots wait, all else works."""
    async with crawling(dsn, site, tmp_path) as crawl:
        yield crawl
