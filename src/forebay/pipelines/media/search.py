"""Shares in the index of all searches: their titles, descriptions, and what is said in them, with its seconds.

Triggers keep them there, in the transactions that settle steps; see `sql/routines/keep_share_indexed.sql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch_row
from forebay.hooks import SearchKind, SearchSource
from forebay.pipelines.media.db import load

if TYPE_CHECKING:
    from forebay.db.pool import Connection


async def backfill(conn: Connection, after: str | None, most: int) -> str | None:
    row = await fetch_row(conn, load("index_shares"), int(after or 0), most)
    return None if row is None or row["last"] is None or row["count"] < most else str(row["last"])


SEARCH = SearchSource((SearchKind("share", "Media", "/media/{ref}", timed=True),), {"share": backfill})
