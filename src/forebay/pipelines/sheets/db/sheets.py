"""Sheets: files of rows, as typed calls; and the writes that steps return for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import from_json

from forebay.db.calls import execute, fetch, fetch_row, fetch_value
from forebay.db.pool import translating_errors
from forebay.intake.db import AddedFile, FileTerms, tidied, to_text
from forebay.pipelines.sheets.db.sql import load
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    import asyncpg

    from forebay.db.pool import Connection, Pool
    from forebay.intake.db import NewFile


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
    size: int | None
    options: Mapping[str, Any]
    file_id: int | None
    kind: str | None
    layout: Any
    columns: list[str] | None
    mapping: Any
    suggestions: Any
    providers: list[str] | None
    rotation: int
    problem: str | None
    created_at: datetime
    received_at: datetime | None
    read_at: datetime | None
    received: int
    replaced_by: int | None
    now_ms: int


# A file comes in.


async def of_jobs(
    conn: Connection, job_ids: Sequence[int], work: Literal["rows", "receiving", "export"]
) -> list[asyncpg.Record]:
    """The sheets that these jobs work on in this way: job_id, sheet_job_id, name."""
    return await fetch(conn, load("list_sheets_of_jobs"), list(job_ids), work)


async def add(conn: Connection, owner_id: int, new: NewFile, terms: FileTerms | None = None) -> AddedFile:
    """Open the job of its rows, or find the one that it is known by."""
    terms = terms or FileTerms()
    args = (owner_id, new.name, new.size, to_text(new.options), new.source, new.path, new.version)
    meta = None if terms.meta is None else to_text(terms.meta)
    row = await fetch_row(conn, load("add_sheet"), *args, terms.key, terms.priority, meta, terms.trace)
    assert row is not None  # noqa: S101 - the function always answers one row
    return AddedFile(row["id"] or 0, row["job_id"] or 0, row["created"])


# Looking at sheets.


async def get(conn: Connection, *, sheet_id: int | None = None, job_id: int | None = None) -> Sheet | None:
    """The sheet of this number, or of this job, if the caller may see it."""
    row = await fetch_row(conn, load("get_sheet"), sheet_id, job_id)
    return None if row is None else _sheet(row)


async def read(pool: Pool, *, sheet_id: int | None = None, job_id: int | None = None) -> Sheet | None:
    """The same for workers."""
    async with translating_errors(), pool.acquire() as conn:
        return await get(conn, sheet_id=sheet_id, job_id=job_id)


async def page(conn: Connection, owner_id: int | None, before: int | None, size: int) -> list[asyncpg.Record]:
    """Sheets, the newest first; of one owner, or of all."""
    return await fetch(conn, load("list_sheets"), owner_id, before, size)


def _sheet(row: asyncpg.Record) -> Sheet:
    values = dict(row)
    for name in ("options", "layout", "mapping", "suggestions"):
        values[name] = None if values[name] is None else from_json(values[name])
    return Sheet(**values)


async def preset(conn: Connection, job_id: int) -> asyncpg.Record | None:
    """The mapping that was kept for the columns of the sheet of a job: mapping, providers, used_at."""
    return await fetch_row(conn, load("get_preset"), job_id)


async def own_pace(conn: Connection, job_id: int, step: str, tries: int) -> float | None:
    """Rows per second in the busy minutes of the owner's last job of this kind; `tries`: of a row that is not found."""
    row = await fetch_row(conn, load("own_pace"), job_id, step)
    if row is None or not row["minutes"]:
        return None
    return float((row["ended"] + row["not_found"] / tries) / (60 * row["minutes"]))


# Changing them.


async def keep_preset(conn: Connection, job_id: int) -> bool:
    """Keep the mapping of the sheet for files with the same columns; False: the columns are not known."""
    return bool(await fetch_value(conn, load("keep_preset"), job_id))


async def lock(conn: Connection, sheet_id: int) -> None:
    """Nobody else changes it until the transaction ends."""
    await execute(conn, load("lock_sheet"), sheet_id)


async def change(
    conn: Connection, job_id: int, mapping: Mapping[str, Any] | None, providers: Sequence[str] | None
) -> bool:
    """What its owner says of its columns, and of whom to ask first; None: nothing. False: there is no such sheet."""
    chosen = None if providers is None else list(providers)
    return (
        await fetch_row(conn, load("map_sheet"), job_id, None if mapping is None else to_text(mapping), chosen)
        is not None
    )


async def rows_have_started(conn: Connection, job_id: int) -> bool:
    """Whether rows of its job are being processed, or have been."""
    return bool(await fetch_value(conn, load("rows_have_started"), job_id))


async def replace(conn: Connection, old_id: int, new_id: int) -> bool:
    """Pass the stored file on to a new sheet of the acting owner; False: somebody else has done so meanwhile."""
    return bool(await fetch_value(conn, load("replace_sheet"), old_id, new_id))


async def rotate_providers(conn: Connection, job_id: int) -> None:
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
    args = (sheet_id, kind, to_text(layout), list(columns), to_text(chosen), to_text(suggestions))
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


async def tidy(pool: Pool, grace: timedelta, now: datetime | None = None) -> tuple[int, list[str]]:
    """Delete what is over; how many sheets went, and the keys of objects that are to be deleted."""
    return tidied(await fetch_row(pool, load("tidy_sheets"), grace, now))


def write_file(sheet_id: int, file_id: int) -> Statement:
    """The file of the sheet was received."""
    return Statement(load("write_sheet_file"), (sheet_id, file_id))


def write_read(sheet_id: int, problem: str | None = None) -> Statement:
    """All of its rows are items, or it has none for this reason."""
    return Statement(load("write_read"), (sheet_id, problem))


def write_trouble(sheet_id: int, problem: str) -> Statement:
    """It cannot be read for now."""
    return Statement(load("write_sheet_trouble"), (sheet_id, problem))


def write_image(sheet_id: int, file_id: int, sha256: str, name: str, media_type: str) -> Statement:
    """A picture of the sheet becomes a file."""
    return Statement(load("write_sheet_image"), (sheet_id, file_id, bytes.fromhex(sha256), name, media_type))
