"""What jobs are about, as the packages of their pipelines say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.models import job_of
from forebay.packages import job_hooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from forebay.api.models import Job
    from forebay.db.pool import Connection
    from forebay.hooks import Subject


async def subjects_of(conn: Connection, rows: Sequence[asyncpg.Record]) -> dict[int, Subject]:
    """The subjects of jobs by id: one call for each pipeline."""
    by_pipeline: dict[str, list[int]] = {}
    for row in rows:
        by_pipeline.setdefault(row["pipeline"], []).append(row["id"])
    found: dict[int, Subject] = {}
    for pipeline, ids in by_pipeline.items():
        found |= await job_hooks(pipeline).subjects(conn, ids)
    return found


async def jobs_of(conn: Connection, rows: Sequence[asyncpg.Record]) -> list[Job]:
    """Jobs with their subjects."""
    subjects = await subjects_of(conn, rows)
    return [job_of(row, subjects.get(row["id"])) for row in rows]
