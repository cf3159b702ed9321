"""Suggests shares while a user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.hooks import Suggestion
from forebay.pipelines.media.db import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


async def suggest(conn: Connection, owner_id: int, text: str, most: int) -> Sequence[Suggestion]:
    """The newest shares by their titles."""
    rows = await fetch(conn, load("suggest_shares"), owner_id, text, most)
    return [
        Suggestion(
            "share",
            str(row["id"]),
            row["title"],
            row["url"],
            1.0 if row["place"] == 1 else 0.8,
            None if row["job_id"] is None else str(row["job_id"]),
        )
        for row in rows
    ]
