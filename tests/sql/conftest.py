"""The fixture of all SQL tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

from tests.sql._db import Db

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Db]:
    """A new database and a clock that does not advance."""
    conn = await asyncpg.connect(dsn)
    yield Db(conn, dsn)
    await conn.close()
