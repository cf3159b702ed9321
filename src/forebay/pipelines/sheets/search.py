"""Sheets in the index of all searches: each is one document, with the values of its first rows.

Triggers keep them there; see `sql/routines/keep_sheet_indexed.sql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch_row
from forebay.hooks import SearchKind, SearchSource
from forebay.pipelines.sheets.db.sql import load

if TYPE_CHECKING:
    from forebay.db.pool import Connection


async def backfill(conn: Connection, after: str | None, most: int) -> str | None:
    row = await fetch_row(conn, load("index_sheets"), int(after or 0), most)
    return None if row is None or row["last"] is None or row["count"] < most else str(row["last"])


SEARCH = SearchSource((SearchKind("sheet", "Sheets", "/sheets/{ref}"),), {"sheet": backfill})
