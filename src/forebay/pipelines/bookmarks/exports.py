"""All bookmarks of an owner as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks.files import BookmarkFile, Entry, Format

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    import asyncpg

    from forebay.hooks import Connect

_PAGE = 500  # bookmarks per query


async def exported(connect: Connect, kind: Format) -> AsyncGenerator[str]:
    """The file, page by page."""
    file, after = BookmarkFile(kind), (-1, 0)
    yield file.head()
    while True:
        async with connect() as conn:
            found = await rows.export(conn, after, _PAGE)
        yield "".join(file.entry(exported_entry(row, kind)) for row in found)
        if len(found) < _PAGE:
            yield file.tail()
            return
        after = (found[-1]["category_id"], found[-1]["id"])


def exported_entry(row: asyncpg.Record, kind: Format) -> Entry:
    """JSON is read by forebay, which fetches the title of the page again; other formats contain it."""
    title = row["own_title"] if kind == "json" else row["own_title"] or row["title"]
    return Entry(
        row["url"], title, row["note"], tuple(row["tags"]), row["category"], row["created_at"], row["archived"]
    )


def owner_export(connect: Connect, owner_id: int) -> Mapping[str, AsyncIterator[str]]:
    """For forebay, and for browsers."""
    return {"bookmarks.json": exported(connect, "json"), "bookmarks.html": exported(connect, "html")}
