"""Tests here share one event loop, and in it the child processes of workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from forebay.engine.work import step_runtime
from tests._children import SharedProcessPool, shared_children
from tests.corpus.site import Site, serving
from tests.pipelines._crawl import Crawl, crawling


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _children() -> AsyncIterator[None]:
    async with shared_children():
        yield


@pytest.fixture(autouse=True)
def _shared_children(_children: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_runtime, "ProcessPool", SharedProcessPool)


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def crawl(dsn: str, site: Site, tmp_path: Path) -> AsyncIterator[Crawl]:
    """Without a browser: screenshots wait, all else works."""
    async with crawling(dsn, site, tmp_path) as crawl:
        yield crawl
