"""The sheets of rows are read when they may have changed, and once for rows that were claimed together."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import asyncpg
import pytest

from forebay.engine.db import registry
from forebay.engine.declare.context import Context
from forebay.intake.db import NewFile
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.steps import SheetCache, sheets
from tests.engine.process_steps import NoHost


async def test_rows_that_were_claimed_together_share_one_read(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, read = 0, rows.read

    async def counted(*given: Any, **named: Any) -> Any:
        nonlocal reads
        reads += 1
        return await read(*given, **named)

    monkeypatch.setattr(rows, "read", counted)

    def row(n: int, claimed_at: float) -> Context:
        return Context(added.job_id, n, owner_id, "normalize", 1, int(claimed_at * 1000) << 20, NoHost())

    async with asyncpg.create_pool(dsn, min_size=1, max_size=4) as pool:
        async with pool.acquire() as conn:
            await registry.register(conn, sheets.definition())
            owner_id = await conn.fetchval("select forebay.owner_id('ann')")
            added = await rows.add(conn, owner_id, NewFile("a.csv", 1))
        cache, now = SheetCache(pool), time.time()
        found = await asyncio.gather(*(cache.of(row(n, now - 1)) for n in range(20)))
        assert ({each.id for each in found}, reads) == ({added.reference}, 1)
        await cache.of(row(21, now + 3600))  # claimed after that
        assert reads == 2
