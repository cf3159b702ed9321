"""Bookmarks in the index of all searches: their titles, texts, notes, captions, and the text in their images.

Triggers keep them there; see `sql/routines/keep_bookmark_indexed.sql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch_row
from forebay.hooks import SearchKind, SearchSource
from forebay.pipelines.bookmarks.db import load

if TYPE_CHECKING:
    from forebay.db.pool import Connection


async def backfill(conn: Connection, after: str | None, most: int) -> str | None:
    row = await fetch_row(conn, load("index_bookmarks"), int(after or 0), most)
    return None if row is None or row["last"] is None or row["count"] < most else str(row["last"])


SEARCH = SearchSource((SearchKind("bookmark", "Bookmarks", "/bookmarks/{ref}"),), {"bookmark": backfill})
