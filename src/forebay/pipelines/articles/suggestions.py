"""Suggests articles while a user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.hooks import Suggestion
from forebay.pipelines.articles import db as rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


async def suggest(conn: Connection, owner_id: int, text: str, most: int) -> Sequence[Suggestion]:
    """Articles whose titles begin with the text."""
    found = await rows.suggest(conn, owner_id, text, most)
    return [Suggestion("article", str(row["id"]), row["title"], row["excerpt"] or None, 1.0) for row in found]
