"""Articles, their versions and drafts in the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.db.calls import fetch, fetch_row, fetch_value
from forebay.db.statements import statements

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection
    from forebay.db.role_pool import RolePool

load = statements("forebay.pipelines.articles")

NEWEST = 2**31 - 1  # after every version


@dataclass(frozen=True, slots=True)
class ArticleValues:
    """The values of a new article, or those to change (None: unchanged). `wanted` is the file name if none is given."""

    title: str | None
    content: str | None
    slug: str | None = None
    wanted: str | None = None
    message: str | None = None
    excerpt: str | None = None
    words: int | None = None
    skip_embedding: bool | None = None
    draft: str | None = None


@dataclass(frozen=True, slots=True)
class Embedding:
    """How the task of a saved article is submitted; `is_queued` is False when there is none."""

    priority: str = "normal"
    is_queued: bool = True
    delay: timedelta | None = None
    max_wait: timedelta | None = None


async def create(
    pool: RolePool, owner_id: int, ip: str | None, new: ArticleValues, embedding: Embedding, trace: str | None = None
) -> asyncpg.Record:
    """Save an article and submit its task in one round trip; returns the row.

    Raises: ConflictError for a file name that is taken.
    """
    async with pool.without_role() as conn:
        return await create_in(conn, pool.role, owner_id, ip, new, embedding, trace)


async def create_in(
    conn: Connection,
    role: str,
    owner_id: int,
    ip: str | None,
    new: ArticleValues,
    embedding: Embedding,
    trace: str | None = None,
) -> asyncpg.Record:
    """The same in the caller's transaction."""
    text = (new.slug, new.wanted, new.title, new.content, new.message, new.excerpt, new.words)
    how = (bool(new.skip_embedding), embedding.priority, embedding.is_queued, new.draft, trace)
    row = await fetch_row(conn, load("create_article"), role, owner_id, ip, *text, *how)
    assert row is not None  # noqa: S101 - the function returns one row
    return row


async def update(
    conn: Connection,
    article_id: int,
    expected: int | None,
    new: ArticleValues,
    embedding: Embedding,
    trace: str | None = None,
) -> int | None:
    """Change an article; returns its version, or None if there is no such article.

    Raises: ConflictError for another version than the expected one, or a file name that is taken.
    """
    text = (new.slug, new.title, new.content, new.message, new.excerpt, new.words)
    how = (new.skip_embedding, embedding.priority, embedding.is_queued, embedding.delay, embedding.max_wait)
    version: int | None = await fetch_value(
        conn, load("update_article"), article_id, expected, *text, *how, new.draft, trace
    )
    return version


async def delete(conn: Connection, article_id: int, expected: int | None, trace: str | None = None) -> int | None:
    """Delete an article; returns the job that removes its vectors, or None if there is no such article.

    Raises: ConflictError for another version than the expected one.
    """
    job: int | None = await fetch_value(conn, load("delete_article"), article_id, expected, trace)
    return job


async def get(conn: Connection, article_id: int) -> asyncpg.Record | None:
    """An article with its text."""
    return await fetch_row(conn, load("get_article"), article_id)


async def find_slug(conn: Connection, owner_id: int, slug: str) -> int | None:
    """The article with this file name."""
    found: int | None = await fetch_value(conn, load("find_article"), owner_id, slug)
    return found


async def find(
    conn: Connection, states: Sequence[str] | None, after: tuple[datetime, int] | None, size: int
) -> list[asyncpg.Record]:
    """Articles in some embedding states or in all, the last changed first."""
    found = await fetch(
        conn, load("find_articles"), None if states is None else list(states), *(after or (None, None)), size
    )
    return await show(conn, [row["id"] for row in found])


async def show(conn: Connection, ids: Sequence[int]) -> list[asyncpg.Record]:
    """These articles with the columns of lists."""
    return await fetch(conn, load("show_articles"), list(ids)) if ids else []


# Versions.


async def versions(conn: Connection, article_id: int, before: int, size: int) -> list[asyncpg.Record]:
    """The versions before this one, the newest first."""
    return await fetch(conn, load("list_versions"), article_id, before, size)


async def version(conn: Connection, article_id: int, number: int) -> asyncpg.Record | None:
    """A version with its text."""
    return await fetch_row(conn, load("get_version"), article_id, number)


# Drafts.


async def keep_draft(
    conn: Connection,
    owner_id: int,
    key: str,
    title: str,
    content: str,
    of_article: tuple[int | None, int | None],
) -> asyncpg.Record | None:
    """Store a draft; None if the owner has no such article. `of_article`: its id, and the version it began with."""
    return await fetch_row(conn, load("keep_draft"), owner_id, key, *of_article, title, content)


async def drafts(conn: Connection, owner_id: int, size: int) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_drafts"), owner_id, size)


async def draft(conn: Connection, owner_id: int, key: str) -> asyncpg.Record | None:
    return await fetch_row(conn, load("get_draft"), owner_id, key)


async def drop_draft(conn: Connection, owner_id: int, key: str) -> bool:
    return await fetch_row(conn, load("drop_draft"), owner_id, key) is not None
