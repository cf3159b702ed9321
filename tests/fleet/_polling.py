"""Waits for what the database says."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg


async def until(conn: asyncpg.Connection[Any], condition: str, seconds: float = 60) -> None:
    """Wait until a condition in SQL holds."""
    async with asyncio.timeout(seconds):
        while not await conn.fetchval(f"select {condition}"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def assert_once(conn: asyncpg.Connection[Any], size: int) -> None:
    """Each of so many tasks of `counting` has been settled once, and nothing is left."""
    assert await conn.fetchval("select count(*) from effects") == size
    assert await conn.fetchval("select count(*) from forebay.attempt where outcome = 'DONE'") == size
    assert await conn.fetchval("select count(*) from forebay.lease") == 0
