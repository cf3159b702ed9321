"""Suggests bookmarks and tags while a user types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.db.calls import fetch
from forebay.hooks import Suggestion
from forebay.pipelines.bookmarks.db import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection

_TRIGRAM = 3  # a shorter text has none
_TAG_SCORE = 0.9  # before titles that only contain the text


async def suggest(conn: Connection, owner_id: int, text: str, most: int) -> Sequence[Suggestion]:
    """Bookmarks by their titles, and tags by their beginnings."""
    if len(text) < _TRIGRAM:
        marks = await fetch(conn, load("suggest_newest_bookmarks"), owner_id, text, most)
    else:
        marks = await fetch(conn, load("suggest_bookmarks"), text, most)
    tags = await fetch(conn, load("suggest_tags"), owner_id, text, most)
    return [
        *(Suggestion("bookmark", str(row["id"]), row["title"], row["url"], row["score"]) for row in marks),
        *(Suggestion("tag", row["tag"], row["tag"], None, _TAG_SCORE) for row in tags),
    ]
