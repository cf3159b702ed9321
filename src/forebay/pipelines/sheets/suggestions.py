"""Suggests sheets while a user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.hooks import Suggestion
from forebay.pipelines.sheets.db.sql import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


async def suggest(conn: Connection, owner_id: int, text: str, most: int) -> Sequence[Suggestion]:
    """The newest sheets by the names of their files."""
    rows = await fetch(conn, load("suggest_sheets"), owner_id, text, most)
    return [
        Suggestion(
            "sheet",
            str(row["job_id"]),
            row["name"],
            row["created_at"].date().isoformat(),
            1.0 if row["place"] == 1 else 0.8,
            str(row["job_id"]),
        )
        for row in rows
    ]
