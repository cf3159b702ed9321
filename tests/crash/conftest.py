"""The fixtures of the tests that break things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.register_assert_rewrite("tests.crash._rig")

from tests.crash._rig import EFFECTS, Watch, Workers  # noqa: E402 - rewritten first

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture
def workers(dsn: str, tmp_path: Path) -> Iterator[Workers]:
    """Worker processes on the test's database."""
    workers = Workers(dsn, tmp_path)
    yield workers
    workers.end()


@pytest.fixture
async def watch(dsn: str) -> AsyncIterator[Watch]:
    """Questions to the test's database, in which there is a table for effects."""
    async with Watch(dsn) as watch:
        await watch.fetch(EFFECTS)
        yield watch
