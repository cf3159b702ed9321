"""Stores of both kinds, on databases of the tests' own."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forebay.db.pool import Pool, open_pool
from forebay.settings import Settings
from forebay.storage import Blobs, Store, open_store
from forebay.storage.spool import spooled
from tests._servers import run_apart
from tests.storage._s3 import ACCESS_KEY, S3, SECRET_KEY, s3_server


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3]:
    folder = tmp_path_factory.mktemp("s3")
    with s3_server(folder / "data") as server:
        run_apart(_make_bucket(open_store(s3_settings(server, folder))))
        yield server


async def _make_bucket(store: Store) -> None:
    """It comes with its first object."""
    async with spooled(b"", store.spool) as nothing:
        await store.put("first", nothing, "text/plain")


def s3_settings(server: S3, folder: Path, **more: Any) -> Settings:
    given: dict[str, Any] = {
        "data_dir": folder,
        "storage_url": f"s3://tests/{uuid.uuid4()}",
        "storage_endpoint": server.endpoint,
        "storage_region": "us-east-1",
        "storage_access_key": ACCESS_KEY,
        "storage_secret_key": SECRET_KEY,
    }
    return Settings(**given | more)


@pytest.fixture(params=["local", "s3"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """The settings of each kind of store, empty."""
    if request.param == "local":
        return Settings(data_dir=tmp_path / "data")
    return s3_settings(request.getfixturevalue("s3"), tmp_path / "data")


@pytest.fixture
def store(settings: Settings) -> Store:
    return open_store(settings)


@pytest.fixture
async def pool(dsn: str) -> AsyncIterator[Pool]:
    async with await open_pool(dsn, size=5, name="forebay tests") as pool:
        yield pool


@pytest.fixture
async def conn(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    conn = await asyncpg.connect(dsn)
    yield conn
    await conn.close()


@pytest.fixture
def blobs(pool: Pool, store: Store) -> Blobs:
    return Blobs(pool, store)
