"""Suggests instances while a user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import Suggestion
from forebay.pipelines.attachments import db

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


async def suggest(conn: Connection, owner_id: int, text: str, most: int) -> Sequence[Suggestion]:
    """The newest instances by title or key."""
    return [
        Suggestion(
            "attachment",
            str(row["id"]),
            row["title"] or row["key"],
            row["created_at"].date().isoformat(),
            1.0 if row["place"] == 1 else 0.8,
            None if row["job_id"] is None else str(row["job_id"]),
        )
        for row in await db.suggested(conn, owner_id, text, most)
    ]
