"""Puts what was there before the index into it, kind by kind, from where the last run ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from forebay.packages import search_sources
from forebay.search import db

if TYPE_CHECKING:
    from forebay.db.pool import Pool
    from forebay.hooks import SearchBackfill

_PAGE = 200


async def fill(pool: Pool, *, seconds: float, again: bool = False) -> int:
    """Run for about this long; returns how many pages were added. `again`: begin anew with all kinds."""
    end, pages = time.monotonic() + seconds, 0
    if again:
        await db.forget_backfill(pool)
    for source in search_sources():
        for kind, backfill in source.backfill.items():
            while time.monotonic() < end and await _fill_page(pool, kind, backfill):
                pages += 1
    return pages


async def _fill_page(pool: Pool, kind: str, backfill: SearchBackfill) -> bool:
    """Add a page of documents, and where it ends, in one transaction; False if the kind is complete."""
    async with pool.acquire() as conn, conn.transaction():
        state = await db.lock_backfill(conn, kind)
        if state is None or state["finished_at"] is not None:
            return False
        await db.note_backfill(conn, kind, await backfill(conn, state["position"], _PAGE))
    return True
