"""The model of this machine, built once for all tests of a process, and the API with documents in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search._index import Index, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture(scope="session")
def model_cache(run_folder: Path) -> Path:
    """The folder of the model, which all processes of a run share."""
    return run_folder / "models"


@pytest.fixture
def data_dir(tmp_path: Path, model_cache: Path) -> Path:
    """A data folder that has the model already."""
    model_cache.mkdir(exist_ok=True)
    (tmp_path / "models").symlink_to(model_cache)
    return tmp_path


@pytest.fixture
async def index(dsn: str, data_dir: Path) -> AsyncIterator[Index]:
    async with opened(dsn, data_dir) as found:
        yield found
