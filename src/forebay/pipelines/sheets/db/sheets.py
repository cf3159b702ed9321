"""Sheets: files of rows, as typed calls; and the writes that steps hand over for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from forebay.db.calls import execute, fetch, fetch_row
from forebay.db.pool import translating_errors
from forebay.engine.db import control
from forebay.pipelines.sheets.db.sql import load
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    import asyncpg

    from forebay.db.pool import Connection, Pool


@dataclass(frozen=True, slots=True)
class NewSheet:
    """A file that comes in: whole, in pieces, or from a source where it is still to be fetched."""

    name: str
    size: int | None = None
    options: Mapping[str, Any] | None = None
    source: str | None = None
    path: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The job of a file's rows; `is_whole` when the file has come already. One that is not new may be gone: 0."""

    id: int
    job_id: int
    created: bool
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an upload, and the name of its object."""

    start: int
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file of rows, as far as it is known yet."""

    id: int
    owner_id: int
    job_id: int
    intake_job_id: int | None
    name: str
    source: str | None
    path: str | None
    version: str | None
    size: int | None
    options: Mapping[str, Any]
    file_id: int | None
    kind: str | None
    layout: Any
    columns: list[str] | None
    mapping: Any
    suggestions: Any
    providers: list[str] | None
    turn: int
    problem: str | None
    created_at: datetime
    received_at: datetime | None
    read_at: datetime | None
    received: int
    now_ms: int


# A file comes in.


async def add(
    conn: Connection,
    owner_id: int,
    new: NewSheet,
    *,
    key: str | None = None,
    priority: int = 0,
    meta: Mapping[str, Any] | None = None,
    trace: str | None = None,
) -> Added:
    """Open the job of its rows, or find the one that it is known by."""
    args = (owner_id, new.name, new.size, _json(new.options or {}), new.source, new.path, new.version)
    row = await fetch_row(conn, load("add_sheet"), *args, key, priority, None if meta is None else _json(meta), trace)
    assert row is not None  # noqa: S101 - the function always answers one row
    return Added(row["id"] or 0, row["job_id"] or 0, row["created"])


async def hand_in(conn: Connection, owner: str, new: NewSheet, *, key: str | None, priority: int) -> Added:
    """The same for an owner by name, who may be new."""
    async with translating_errors(), conn.transaction():
        added = await add(conn, await conn.fetchval(load("make_owner"), owner), new, key=key, priority=priority)
        known = None if added.created else await get(conn, sheet_id=added.id)
    return replace(added, is_whole=known is not None and known.intake_job_id is not None)


async def take_from_source(
    conn: Connection,
    owner: str,
    new: NewSheet,
    *,
    paused: bool,
    actor: str,
    key: str | None = None,
    priority: int = 0,
    meta: Mapping[str, Any] | None = None,
) -> Added:
    """Take a file of a source, all or nothing, unless its content was taken before; it is fetched by its intake."""
    async with translating_errors(), conn.transaction():
        owner_id = await conn.fetchval(load("make_owner"), owner)
        added = await add(conn, owner_id, new, key=key, priority=priority, meta=meta)
        if added.created:
            if paused:
                await control.pause(conn, added.job_id, actor)
            await begin_intake(conn, added.id)
    return added


async def begin_piece(conn: Connection, sheet_id: int, start: int) -> str | None:
    """The name of the object that a piece is to be; None when the file takes no more."""
    row = await fetch_row(conn, load("begin_piece"), sheet_id, start)
    return None if row is None else str(row["name"])


async def end_piece(conn: Connection, sheet_id: int, piece: Piece) -> bool:
    """The piece is in the store; false when another came in its place."""
    # By a statement of its own: the next one then sees what those have counted who had the lock before.
    await execute(conn, load("lock_sheet"), sheet_id)
    return await fetch_row(conn, load("end_piece"), sheet_id, piece.start, piece.name, piece.size) is not None


async def drop_piece(conn: Connection, sheet_id: int, start: int, name: str) -> None:
    """The piece did not come whole."""
    await execute(conn, load("drop_piece"), sheet_id, start, name)


async def begin_intake(conn: Connection, sheet_id: int, trace: str | None = None, *, delay: float | None = None) -> int:
    """Submit the reading of the file, now or after so many seconds; tells its job."""
    row = await fetch_row(conn, load("begin_intake"), sheet_id, trace, delay)
    assert row is not None  # noqa: S101 - the function always answers one row
    return int(row[0])


# Looking at sheets.


async def get(conn: Connection, *, sheet_id: int | None = None, job_id: int | None = None) -> Sheet | None:
    """The sheet of this number, or of this job, if whoever asks may see it."""
    row = await fetch_row(conn, load("get_sheet"), sheet_id, job_id)
    return None if row is None else _sheet(row)


async def read(pool: Pool, *, sheet_id: int | None = None, job_id: int | None = None) -> Sheet | None:
    """The same for workers."""
    async with translating_errors(), pool.acquire() as conn:
        return await get(conn, sheet_id=sheet_id, job_id=job_id)


async def page(conn: Connection, owner_id: int | None, before: int | None, size: int) -> list[asyncpg.Record]:
    """Sheets, the newest first; of one owner, or of all."""
    return await fetch(conn, load("list_sheets"), owner_id, before, size)


async def pieces(pool: Pool, sheet_id: int) -> list[Piece]:
    """What has come of an upload, one after the other."""
    found = await fetch(pool, load("list_pieces"), sheet_id)
    listed: list[Piece] = []
    for row in found:
        if row["start"] == sum(piece.size for piece in listed):
            listed.append(Piece(row["start"], row["size"], row["name"]))
    return listed


def _sheet(row: asyncpg.Record) -> Sheet:
    values = dict(row)
    for name in ("options", "layout", "mapping", "suggestions"):
        values[name] = None if values[name] is None else from_json(values[name])
    return Sheet(**values)


# Changing them.


async def lock(conn: Connection, sheet_id: int) -> None:
    """Nobody else changes it until the transaction ends."""
    await execute(conn, load("lock_sheet"), sheet_id)


async def give_up(conn: Connection, sheet_id: int) -> None:
    """Its upload is over before it was complete; what has come of it is cleared away later."""
    await execute(conn, load("give_up_sheet"), sheet_id)


async def change(
    conn: Connection, job_id: int, mapping: Mapping[str, Any] | None, providers: Sequence[str] | None
) -> bool:
    """What its owner says of its columns, and of whom to ask first; None: nothing. False: there is no such sheet."""
    chosen = None if providers is None else list(providers)
    return (
        await fetch_row(conn, load("map_sheet"), job_id, None if mapping is None else _json(mapping), chosen)
        is not None
    )


async def next_turn(conn: Connection, job_id: int) -> None:
    """It is reprocessed; nothing happens when the job is none of a sheet."""
    await execute(conn, load("rotate_providers"), job_id)


# What workers do while they read a file.


async def change_pipeline(pool: Pool, job_id: int, pipeline: str) -> None:
    """Make a job that has no items yet one of another pipeline."""
    async with pool.acquire() as conn:
        await execute(conn, load("change_pipeline"), job_id, pipeline)


async def write_layout(pool: Pool, sheet_id: int, kind: str, layout: Any, columns: Sequence[str], mapping: Any) -> None:
    """What the file is; `mapping` is the columns by field, and why."""
    chosen, suggestions = mapping
    args = (sheet_id, kind, _json(layout), list(columns), _json(chosen), _json(suggestions))
    async with pool.acquire() as conn:
        await execute(conn, load("write_layout"), *args)


async def write_warnings(pool: Pool, sheet_id: int, warnings: Sequence[str]) -> None:
    """What its owner should know about a file whose layout is known."""
    async with pool.acquire() as conn:
        await execute(conn, load("write_sheet_warnings"), sheet_id, list(warnings))


async def is_cancelled(pool: Pool, job_id: int) -> bool:
    """Whether nobody wants the rows of a job any more."""
    async with pool.acquire() as conn:
        row = await fetch_row(conn, load("job_is_cancelled"), job_id)
    return row is None or bool(row[0])


async def received(pool: Pool, file_id: int) -> tuple[str, int] | None:
    """The hash and the size of a sheet's file."""
    async with pool.acquire() as conn:
        row = await fetch_row(conn, load("read_received"), file_id)
    return None if row is None else (row["sha256"], row["size"])


async def drop_pieces(pool: Pool, sheet_id: int) -> list[str]:
    """The file is kept as a whole: its pieces go. Their names are told, for the objects to be deleted."""
    return [row["name"] for row in await fetch(pool, load("drop_pieces"), sheet_id)]


async def tidy(pool: Pool, grace: timedelta, now: datetime | None = None) -> tuple[int, list[str]]:
    """Delete what is over; how many sheets went, and the keys of objects that are to be deleted."""
    async with pool.acquire() as conn:
        row = await fetch_row(conn, load("tidy_sheets"), grace, now)
    assert row is not None  # noqa: S101 - the function always answers one row
    return row["sheets"], row["objects"]


def write_received(sheet_id: int, file_id: int, size: int) -> Statement:
    """The file is whole, and kept as this one."""
    return Statement(load("write_received"), (sheet_id, file_id, size))


def write_read(sheet_id: int, problem: str | None = None) -> Statement:
    """All of its rows are items, or it has none for this reason."""
    return Statement(load("write_read"), (sheet_id, problem))


def write_trouble(sheet_id: int, problem: str) -> Statement:
    """It cannot be read for now."""
    return Statement(load("write_sheet_trouble"), (sheet_id, problem))


def write_image(sheet_id: int, file_id: int, sha256: str, name: str, media_type: str) -> Statement:
    """A picture of the sheet becomes a file."""
    return Statement(load("write_sheet_image"), (sheet_id, file_id, bytes.fromhex(sha256), name, media_type))


def _json(value: Any) -> str:
    return to_json(value).decode()
