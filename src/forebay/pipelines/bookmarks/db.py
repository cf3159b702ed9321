"""Bookmarks, categories and tags in the database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from forebay.db.calls import fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.db.statements import statements
from forebay.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from forebay.db.pool import Connection, Pool
    from forebay.db.role_pool import RolePool

load = statements("forebay.pipelines.bookmarks")


@dataclass(frozen=True, slots=True)
class BookmarkValues:
    """The values of a new bookmark; None: not given."""

    url: str
    page_hash: bytes
    title: str | None = None
    note: str | None = None
    tags: Sequence[str] | None = None
    category_id: int | None = None
    is_image: bool = False
    favicon: str | None = None


@dataclass(frozen=True, slots=True)
class BookmarkFilter:
    """Selects bookmarks of the owner that the transaction acts for; empty lists select all.

    `archived` and `duplicates` are None for both kinds. A bookmark has all of the tags, and one of the kinds, sites and
    statuses.
    """

    archived: bool | None = False
    category_id: int | None = None
    tags: Sequence[str] = ()
    kinds: Sequence[str] = ()
    sites: Sequence[str] = ()
    statuses: Sequence[str] = ()
    not_tags: Sequence[str] = ()
    not_kinds: Sequence[str] = ()
    not_sites: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    duplicates: bool | None = None
    trash: bool = False
    ids: Sequence[int] | None = None

    def to_json(self) -> str:
        """As the database takes it."""
        given: dict[str, object] = {"trash": self.trash}
        given |= {name: value for name in ("archived", "duplicates") if (value := getattr(self, name)) is not None}
        lists = ("tags", "kinds", "sites", "statuses", "not_tags", "not_kinds", "not_sites")
        given |= {name: list(value) for name in lists if (value := getattr(self, name))}
        given |= {name: value.isoformat() for name in ("since", "until") if (value := getattr(self, name)) is not None}
        if self.category_id is not None:
            given["category"] = str(self.category_id)
        if self.ids is not None:
            given["ids"] = list(self.ids)
        return json.dumps(given)


@dataclass(frozen=True, slots=True)
class BulkChange:
    """What to do with many bookmarks."""

    action: str
    tags: Sequence[str] | None = None
    category_id: int | None = None
    only: Sequence[str] | None = None


# Requests of users.


async def add(
    pool: RolePool, owner_id: int, ip: str | None, new: BookmarkValues, *, priority: int = 0, trace: str | None = None
) -> asyncpg.Record:
    """Save a bookmark and submit its job in one round trip; returns the row, with `created`.

    Raises: NotFoundError for a category that the owner does not have.
    """
    async with pool.without_role() as conn:
        return await add_in(conn, pool.role, owner_id, ip, new, priority=priority, trace=trace)


async def add_in(
    conn: Connection,
    role: str,
    owner_id: int,
    ip: str | None,
    new: BookmarkValues,
    *,
    priority: int = 0,
    trace: str | None = None,
) -> asyncpg.Record:
    """The same in the caller's transaction."""
    row = await fetch_row(conn, load("add_bookmark"), role, owner_id, ip, *_given(new, priority, trace))
    assert row is not None  # noqa: S101 - the function returns one row
    return row


def _given(new: BookmarkValues, priority: int, trace: str | None) -> tuple[object, ...]:
    tags = None if new.tags is None else list(new.tags)
    return (
        new.url,
        new.page_hash,
        new.title,
        new.note,
        tags,
        new.category_id,
        priority,
        new.is_image,
        trace,
        new.favicon,
    )


async def get(conn: Connection, bookmark_id: int) -> asyncpg.Record | None:
    """A bookmark with all columns, if the caller may see it."""
    return await fetch_row(conn, load("get_bookmark"), bookmark_id)


async def get_light(conn: Connection, bookmark_id: int) -> asyncpg.Record | None:
    """The same with the columns of lists."""
    return await fetch_row(conn, load("show_bookmarks"), [bookmark_id])


async def of_jobs(conn: Connection, job_ids: Sequence[int]) -> list[asyncpg.Record]:
    """The bookmarks that these jobs are about: job_id, bookmark_id, title."""
    return await fetch(conn, load("list_bookmarks_of_jobs"), list(job_ids))


async def match(
    conn: Connection, where: BookmarkFilter, after: int | None, size: int, *, oldest: bool = False
) -> tuple[list[int], int | None]:
    """The ids of bookmarks, newest or oldest first, and the position after them. There may be fewer before the end."""
    row = await fetch_row(conn, load("find_bookmarks"), where.to_json(), oldest, after, size)
    assert row is not None  # noqa: S101 - the function returns one row
    return list(row["ids"]), row["next_after"]


async def show(conn: Connection, ids: Sequence[int]) -> list[asyncpg.Record]:
    """These bookmarks with the columns of lists."""
    return await fetch(conn, load("show_bookmarks"), list(ids)) if ids else []


async def find(conn: Connection, where: BookmarkFilter, size: int) -> list[asyncpg.Record]:
    """The newest bookmarks."""
    return await show(conn, (await match(conn, where, None, size))[0])


async def search(
    conn: Connection, where: BookmarkFilter, question: str, after: tuple[float, int] | None, size: int
) -> list[asyncpg.Record]:
    """Bookmarks that match a query, the best first, with `rank` and a `snippet` of the match."""
    return await fetch(conn, load("search_bookmarks"), question, where.to_json(), *(after or (None, None)), size)


async def count(conn: Connection, where: BookmarkFilter, question: str | None, most: int) -> list[asyncpg.Record]:
    """The number of matching bookmarks and how many have which properties, read from at most `most` of them."""
    return await fetch(conn, load("count_bookmarks"), question, where.to_json(), most)


async def change_many(conn: Connection, ids: Sequence[int], change: BulkChange) -> int:
    """Change bookmarks; returns how many were not as requested already."""
    given = (change.action, _list(change.tags), change.category_id, _list(change.only))
    return int(await fetch_value(conn, load("change_bookmarks"), list(ids), *given))


def _list(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


async def change(conn: Connection, bookmark_id: int, given: Mapping[str, object]) -> bool:
    """Change the given fields; False when the bookmark or its new category does not exist."""
    return await fetch_row(conn, load("change_bookmark"), bookmark_id, json.dumps(given)) is not None


async def merge(conn: Connection, bookmark_id: int) -> int | None:
    """Merge a duplicate into the original; returns the id of the original."""
    row = await fetch_row(conn, load("merge_bookmark"), bookmark_id)
    return None if row is None else row["id"]


async def crawl(
    conn: Connection,
    bookmark_id: int,
    *,
    priority: int = 0,
    only: Sequence[str] | None = None,
    favicon: str | None = None,
) -> int | None:
    """Submit a new job for the bookmark, for all or some steps; returns the job."""
    row = await fetch_row(
        conn, load("crawl_bookmark"), bookmark_id, priority, None if only is None else list(only), favicon
    )
    return None if row is None else row[0]


async def steps(conn: Connection, ids: Sequence[int]) -> dict[int, list[asyncpg.Record]]:
    """The steps of bookmarks in order, by the id of the bookmark."""
    found: dict[int, list[asyncpg.Record]] = {number: [] for number in ids}
    for row in await fetch(conn, load("list_bookmark_steps"), list(ids)):
        found[row["bookmark_id"]].append(row)
    return found


async def messages(conn: Connection, owner_id: int | None, most: int) -> list[int]:
    """The oldest open jobs of bookmarks, of an owner or of all."""
    row = await fetch_row(conn, load("list_bookmark_messages"), owner_id, most)
    return [] if row is None else list(row["ids"])


async def message_reports(conn: Connection, jobs: Sequence[int]) -> list[asyncpg.Record]:
    """The progress of these jobs by step."""
    return await fetch(conn, load("report_bookmark_messages"), list(jobs))


async def changes(conn: Connection, bookmark_id: int, before: datetime | None, size: int) -> list[asyncpg.Record]:
    """The changes that crawls detected, newest first."""
    return await fetch(conn, load("list_bookmark_changes"), bookmark_id, before, size)


async def export(conn: Connection, after: tuple[int, int], size: int) -> list[asyncpg.Record]:
    """Some bookmarks of the acting owner in the order (category, id), after the given one."""
    return await fetch(conn, load("export_bookmarks"), *after, size)


_HASHES = 10_000  # in one statement


async def count_known(conn: Connection, owner_id: int, pages: Sequence[bytes]) -> int:
    """How many of these pages the owner has as bookmarks."""
    counts = [
        await fetch_value(conn, load("count_known_pages"), owner_id, list(pages[first : first + _HASHES]))
        for first in range(0, len(pages), _HASHES)
    ]
    return sum(counts)


async def tags(conn: Connection, owner_id: int, size: int) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_tags"), owner_id, size)


async def categories(conn: Connection, owner_id: int) -> list[asyncpg.Record]:
    return await fetch(conn, load("list_categories"), owner_id)


async def add_category(conn: Connection, owner_id: int, name: str) -> asyncpg.Record | None:
    """Add the category, or find it; returns the row, with `created`."""
    return await fetch_row(conn, load("add_category"), owner_id, name)


async def find_category(conn: Connection, owner_id: int, category_id: int | None, name: str | None) -> int | None:
    """The category with this id or name, if the owner has it."""
    row = await fetch_row(conn, load("find_category"), owner_id, category_id, name)
    return None if row is None else row["id"]


async def rename_category(conn: Connection, category_id: int, name: str) -> asyncpg.Record | None:
    """Raises: ConflictError when another category has this name."""
    try:
        return await fetch_row(conn, load("rename_category"), category_id, name)
    except asyncpg.UniqueViolationError as error:
        raise ConflictError("name", f"a category {name!r} already exists") from error


async def delete_category(conn: Connection, category_id: int) -> bool:
    return await fetch_row(conn, load("delete_category"), category_id) is not None


# What steps read.


async def read_crawl(pool: Pool, bookmark_id: int, job_owner_id: int) -> asyncpg.Record | None:
    """The data of a bookmark that a crawl needs, its owner, and the owner of the job."""
    return await fetch_row(pool, load("read_crawl"), bookmark_id, job_owner_id)


async def crawl_due(pool: Pool, most: int, now: datetime | None) -> int:
    """Submit jobs for bookmarks that are due to be crawled again; returns how many were checked."""
    async with translating_errors(), pool.acquire() as conn, conn.transaction():
        return int(await conn.fetchval(load("crawl_due_bookmarks"), most, now) or 0)


async def purge(pool: Pool, before: datetime, most: int) -> int:
    """Delete bookmarks for good that were deleted before this time; returns how many."""
    async with translating_errors(), pool.acquire() as conn, conn.transaction():
        return int(await conn.fetchval(load("purge_bookmarks"), before, most))


@dataclass(frozen=True, slots=True)
class UnseenPicture:
    """A stored picture of which nothing is known: no size, blurhash or thumbnails."""

    file_id: int
    owner_id: int
    sha256: str


async def unseen_pictures(pool: Pool, after: int, most: int) -> tuple[list[UnseenPicture], int | None]:
    """Those of the next bookmarks after this one, and the last bookmark that was looked at; None at the end."""
    rows = await fetch(pool, load("list_unseen_pictures"), after, most)
    found = [
        UnseenPicture(row["file_id"], row["owner_id"], row["sha256"]) for row in rows if row["file_id"] is not None
    ]
    return found, rows[0]["looked_to"]


async def read_page_text(pool: Pool, bookmark_id: int, owner_id: int) -> asyncpg.Record | None:
    """The title, the description and the text that the previous crawl found, with their hash."""
    return await fetch_row(pool, load("read_page_text"), bookmark_id, owner_id)
