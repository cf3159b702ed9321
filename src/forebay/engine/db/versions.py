"""The versions of pipelines: a list of them, and the choice of the present one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db.calls import fetch, fetch_row
from forebay.engine.db.sql import load
from forebay.errors import NotFoundError

if TYPE_CHECKING:
    from datetime import datetime

    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class VersionRow:
    pipeline: str
    version_id: int
    number: int
    is_present: bool  # new jobs get it
    created_at: datetime
    unserved_since: datetime | None
    open_jobs: int
    workers: int
    steps: list[str]
    unserved: list[str]  # steps that no living worker runs


async def versions(conn: Connection) -> list[VersionRow]:
    """The present versions, and those that have open jobs or living workers."""
    return [VersionRow(**dict(row)) for row in await fetch(conn, load("list_versions"))]


async def use_version(conn: Connection, pipeline: str, number: int) -> None:
    """Make this version the present one of a pipeline: new jobs get it.

    Raises: NotFoundError when there is none of that number.
    """
    if await fetch_row(conn, load("use_version"), pipeline, number) is None:
        raise NotFoundError("version", f"pipeline {pipeline!r} has no version {number}: `forebay pipelines` lists them")
