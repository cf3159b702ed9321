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
