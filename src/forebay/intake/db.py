"""Typed calls for incoming files, and the statements that steps return for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from forebay.db.calls import execute, fetch, fetch_row
from forebay.db.pool import translating_errors
from forebay.db.statements import statements
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta

    import asyncpg

    from forebay.db.pool import Connection, Pool

load = statements("forebay.intake")


@dataclass(frozen=True, slots=True)
class NewFile:
    """An incoming file: uploaded as a whole or in parts, or still to be fetched from a source."""

    name: str
    size: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source: str | None = None
    path: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class FileTerms:
    """The options of the job of a file."""

    key: str | None = None
    priority: int = 0
    meta: Mapping[str, Any] | None = None
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class AddedFile:
    """The job of a file, and the target's reference; 0 if the content was taken before and its file is deleted."""

    reference: int
    job_id: int
    created: bool


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of an upload, and the name of its object."""

    start: int
    size: int
    name: str
    sha256: bytes | None = None


@dataclass(frozen=True, slots=True)
class IntakeFile:
    """An incoming file and its state."""

    target: str
    reference: int
    owner_id: int
    job_id: int
    intake_job_id: int | None
    name: str
    size: int | None
    options: Mapping[str, Any]
    source: str | None
    path: str | None
    version: str | None
    file_id: int | None
    problem: str | None
    created_at: datetime
    received_at: datetime | None
    received: int | None

    @property
    def is_whole(self) -> bool:
        """Whether it accepts no more parts: it is complete, or the upload was cancelled."""
        return self.intake_job_id is not None


# Receiving a file.


async def make_owner(conn: Connection, owner: str) -> int:
    """The id of an owner, created if necessary."""
    async with translating_errors():
        return int(await conn.fetchval(load("make_owner"), owner))


async def add(
    conn: Connection, target: str, pipelines: Sequence[str], owner_id: int, new: NewFile, terms: FileTerms
) -> AddedFile:
    """Open the job of a file, for a target without tables; or find the file with the same key."""
    about = (
        target,
        list(pipelines),
        owner_id,
        new.name,
        new.size,
        to_text(new.options),
        new.source,
        new.path,
        new.version,
    )
    meta = None if terms.meta is None else to_text(terms.meta)
    row = await fetch_row(conn, load("add_intake_file"), *about, terms.key, terms.priority, meta, terms.trace)
    assert row is not None  # noqa: S101 - the function always answers one row
    return AddedFile(row["reference"] or 0, row["job_id"] or 0, row["created"])


async def begin_part(conn: Connection, target: str, reference: int, start: int) -> str | None:
    """The name for the object of a new part; None if the file accepts no more parts."""
    row = await fetch_row(conn, load("begin_part"), target, reference, start)
    return None if row is None else str(row["name"])


async def end_part(conn: Connection, target: str, reference: int, part: FilePart) -> bool:
    """Record that the part is stored; false if another part took its place."""
    # A separate statement: the next one then sees the parts that earlier holders of the lock have recorded.
    await execute(conn, load("lock_intake_file"), target, reference)
    args = (target, reference, part.start, part.name, part.size, part.sha256)
    return await fetch_row(conn, load("end_part"), *args) is not None


async def drop_part(conn: Connection, target: str, reference: int, start: int, name: str) -> None:
    """Delete a part that was not received completely."""
    await execute(conn, load("drop_part"), target, reference, start, name)


async def begin_receiving(
    conn: Connection,
    target: str,
    reference: int,
    pipeline: str,
    trace: str | None = None,
    *,
    delay: float | None = None,
) -> int:
    """Submit the job that receives the file, now or after `delay` seconds; returns its id."""
    row = await fetch_row(conn, load("begin_receiving"), target, reference, pipeline, trace, delay)
    assert row is not None  # noqa: S101 - the function always answers one row
    return int(row[0])


async def give_up(conn: Connection, target: str, reference: int) -> None:
    """End an incomplete upload; its parts are deleted later."""
    await execute(conn, load("give_up_upload"), target, reference)


# Reading.


async def get(conn: Connection | Pool, target: str, reference: int) -> IntakeFile | None:
    """The file, if the role of the connection may see it."""
    row = await fetch_row(conn, load("get_intake_file"), target, reference)
    if row is None:
        return None
    values = dict(row)
    return IntakeFile(**{**values, "options": from_json(values["options"])})


async def parts(pool: Pool, target: str, reference: int) -> list[FilePart]:
    """The consecutive parts of an upload, from its start."""
    listed: list[FilePart] = []
    for row in await fetch(pool, load("list_parts"), target, reference):
        if row["start"] == sum(part.size for part in listed):
            listed.append(FilePart(row["start"], row["size"], row["name"], row["sha256"]))
    return listed


async def content(pool: Pool, file_id: int) -> tuple[str, int] | None:
    """The hash and the size of a stored file."""
    row = await fetch_row(pool, load("read_content"), file_id)
    return None if row is None else (row["sha256"], row["size"])


async def problem(conn: Connection, job_id: int) -> str | None:
    """Why the file of a job was not received."""
    row = await fetch_row(conn, load("get_problem"), job_id)
    return None if row is None else row["problem"]


# Deleting.


async def drop_parts(pool: Pool, target: str, reference: int) -> list[str]:
    """Delete the parts of a stored file; returns their names, so that the caller can delete the objects."""
    return [row["name"] for row in await fetch(pool, load("drop_parts"), target, reference)]


async def tidy(
    pool: Pool, target: str, grace: timedelta, now: datetime | None = None, *, keeps_files: bool
) -> tuple[int, list[str]]:
    """Delete expired rows; returns the number of deleted files, and the keys of objects to delete."""
    return tidied(await fetch_row(pool, load("tidy_intake"), target, keeps_files, grace, now))


async def list_target_rows(conn: Connection, targets: Sequence[str]) -> list[str]:
    """The targets that have rows."""
    return [row["target"] for row in await fetch(conn, load("list_target_rows"), list(targets))]


async def delete_target_rows(conn: Connection, targets: Sequence[str]) -> list[tuple[int, str]]:
    """Delete all rows of these targets; returns the reference and the name of each part whose object is left."""
    rows = await fetch(conn, load("delete_target_rows"), list(targets))
    return [(row["reference"], row["name"]) for row in rows]


def tidied(row: asyncpg.Record | None) -> tuple[int, list[str]]:
    assert row is not None  # noqa: S101 - the function always answers one row
    return row[0], row[1]


# Statements that steps return.


def write_received(target: str, reference: int, file_id: int, size: int) -> Statement:
    """The statement that records the stored file."""
    return Statement(load("write_received"), (target, reference, file_id, size))


def write_problem(target: str, reference: int, problem: str) -> Statement:
    """The statement that records why the file is not received."""
    return Statement(load("write_problem"), (target, reference, problem))


def write_item(job_id: int, given: Mapping[str, Any]) -> Statement:
    """The statement that makes the file the only item of its job."""
    return Statement(load("add_intake_item"), (job_id, to_text(given)))


def to_text(value: Any) -> str:
    return to_json(value).decode()
