"""Articles, their versions and drafts in the database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from forebay.db.calls import fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.db.statements import statements
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    import asyncpg

    from forebay.db.pool import Connection, Pool
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


# What tasks read and write.


@dataclass(frozen=True, slots=True)
class Prepared:
    """An article whose document is in the index."""

    id: int
    owner_id: int
    version: int
    skips: bool
    document_id: int


async def prepare(pool: Pool, ids: Sequence[int]) -> dict[int, Prepared]:
    """Those of these articles that exist, by id; documents that are missing are put into the index."""
    return {
        row["id"]: Prepared(row["id"], row["owner_id"], row["version"], row["skip_embedding"], row["document_id"])
        for row in await fetch(pool, load("prepare_articles"), list(ids))
    }


def note_embedded(article_id: int, owner_id: int, document_version: int) -> Statement:
    """The statement that records that the index has the vectors of this version of the document."""
    return Statement(load("note_embedded"), (article_id, owner_id, document_version))


def note_not_embedded(article_id: int, owner_id: int, state: str, reason: str, task: tuple[int, int]) -> Statement:
    """The statement that records why an article has no vectors, after this task (job and item) if it is its last."""
    return Statement(load("note_not_embedded"), (article_id, owner_id, state, reason, *task))


def delete_document(article_id: int, owner_id: int) -> Statement:
    """The statement that removes what the index has of a deleted article."""
    return Statement(load("delete_article_document"), (owner_id, article_id))


# Tasks.


async def tasks(
    conn: Connection, after: tuple[int, int], statuses: Sequence[str] | None, article_id: int | None, size: int
) -> list[asyncpg.Record]:
    """The tasks of the acting owner before a job and item, the newest first."""
    wanted = None if statuses is None else list(statuses)
    return await fetch(conn, load("list_tasks"), *after, wanted, article_id, size)


async def task(conn: Connection, task_id: UUID) -> asyncpg.Record | None:
    return await fetch_row(conn, load("get_task"), task_id)


async def log_of(conn: Connection, article_id: int, size: int) -> list[asyncpg.Record]:
    """What happened to the tasks of an article of the acting owner, in the order of time."""
    return await fetch(conn, load("list_log"), article_id, size)


async def count_tasks(conn: Connection | Pool, owner_id: int | None) -> asyncpg.Record:
    """The exact number of tasks by status, of an owner or of all."""
    row = await fetch_row(conn, load("count_tasks"), owner_id)
    assert row is not None  # noqa: S101 - the function returns one row
    return row


async def embed_again(conn: Connection, article_id: int, priority: int) -> int | None:
    """Queue an article; returns the job."""
    job: int | None = await fetch_value(conn, load("embed_article"), article_id, priority)
    return job


@dataclass(frozen=True, slots=True)
class Reindex:
    """The job that embeds all articles of an owner that need it."""

    job_id: int
    created: bool
    items: int


async def reindex(
    conn: Connection, owner_id: int, priority: int, actor: str, *, with_failed: bool = True
) -> Reindex | None:
    """Queue all articles of an owner that need it as one job; None if there are none."""
    row = await fetch_row(conn, load("reindex_articles"), owner_id, priority, actor, with_failed)
    assert row is not None  # noqa: S101 - the function returns one row
    return None if row["job_id"] is None else Reindex(row["job_id"], row["created"], row["items"])


async def unembedded_owners(pool: Pool, after: int, most: int) -> list[int]:
    """Owners that may have articles to embed, after this one."""
    return [row["owner_id"] for row in await fetch(pool, load("list_unembedded_owners"), after, most)]


async def retry_failed(conn: Connection, owner_id: int | None, actor: str) -> int:
    """Run the failed tasks of an owner, or of all, again; returns how many."""
    return int(await fetch_value(conn, load("retry_embeddings"), owner_id, actor))


async def clear_completed(conn: Connection, owner_id: int | None, before: datetime, most: int = 1000) -> int:
    """Delete some completed tasks of an owner, or of all, that ended before this time; returns how many."""
    return int(await fetch_value(conn, load("clear_tasks"), owner_id, before, most))


async def clear_old(pool: Pool, before: datetime, most: int = 1000) -> int:
    """The same for all owners, with the records of tasks whose jobs are gone."""
    async with translating_errors(), pool.acquire() as conn, conn.transaction():
        return await clear_completed(conn, None, before, most) + int(await conn.fetchval(load("tidy_tasks"), most))


async def reindex_for(pool: Pool, owner_id: int, priority: int, actor: str) -> Reindex | None:
    """`reindex` in a transaction of its own, without articles whose tasks failed."""
    async with translating_errors(), pool.acquire() as conn, conn.transaction():
        return await reindex(conn, owner_id, priority, actor, with_failed=False)


async def import_one(conn: Connection, owner_id: int, new: ArticleValues, embedding: Embedding) -> str:
    """Save an article of a file; returns created, updated or unchanged."""
    text = (new.slug, new.title, new.content, new.message, new.excerpt, new.words)
    how = (bool(new.skip_embedding), embedding.priority, embedding.is_queued)
    return str(await fetch_value(conn, load("import_article"), owner_id, *text, *how))
