"""Registers a worker when it starts: the versions of its pipelines, its own row, and the schedules that it declares.
Before, the schema of the database is checked."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.db import migrate
from forebay.db.routines import differing_routines
from forebay.engine.db import changes, registry
from forebay.engine.declare.loading import parts_needed
from forebay.engine.maintenance import schedules
from forebay.errors import SchemaError
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from forebay.db.pool import Connection
    from forebay.engine.db.registry import RegisteredVersion
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.step import Step

log = get_logger("worker")


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered worker, the versions of its pipelines by name, the steps that it runs, and the schedules that it
    declares (None: unknown)."""

    worker_id: int
    name: str
    versions: dict[str, RegisteredVersion]
    steps: list[int]
    schedules: list[str] | None
    at: datetime  # when it started, by the database's clock


async def check_schema(conn: Connection, pipelines: Sequence[Pipeline[Any]]) -> None:
    """Log a warning if functions of the database are of another release: a newer one may have migrated, or nobody has.

    Raises: SchemaError if the tables that these pipelines need are missing, older than this release or too new.
    """
    parts = parts_needed(pipelines)
    await migrate.check(conn, parts)
    if differing := await differing_routines(conn, parts):
        fix = "run `forebay migrate`, unless a newer release did"
        log.warning("routines_of_another_release", parts=differing, fix=fix)


async def register(
    conn: Connection,
    pipelines: Sequence[Pipeline[Any]],
    steps: Sequence[Step[Any, Any]],
    now: datetime | None,
    *,
    declares: bool,
) -> Registration:
    """Register a worker that runs these steps. `declares`: whether it declares the schedules of its pipelines."""
    registered = await _register(conn, pipelines, steps, now, await _declared(conn, pipelines) if declares else None)
    for pipeline, version in registered.versions.items():
        if not version.is_present:
            log.warning("pipeline_version_old", pipeline=pipeline, version=version.id)
    if declares:
        # A worker of an old release must not change the schedules of the present one.
        present = [pipeline for pipeline in pipelines if registered.versions[pipeline.name].is_present]
        await schedules.put_declared(conn, present, registered.at)
    return registered


async def _declared(conn: Connection, pipelines: Sequence[Pipeline[Any]]) -> list[str]:
    """The schedules that these pipelines declare. Of a pipeline that does not know all of its schedules, those that
    exist count as declared, so that they remain."""
    declared = [schedule.name for pipeline in pipelines for schedule in pipeline.schedules]
    if unsure := [pipeline.name for pipeline in pipelines if not pipeline.knows_all_schedules]:
        declared += await registry.list_schedules(conn, unsure, [])
    return declared


async def _register(
    conn: Connection,
    pipelines: Sequence[Pipeline[Any]],
    steps: Sequence[Step[Any, Any]],
    now: datetime | None,
    declared: list[str] | None,
) -> Registration:
    """In one transaction, so that a worker that registers another version sees that this one is alive."""
    name = f"{socket.gethostname()}:{os.getpid()}"
    async with conn.transaction():
        versions = await _register_versions(conn, pipelines, now)
        step_ids = [versions[step.pipeline.name].steps[step.name] for step in steps]
        ids = [version.id for version in versions.values()]
        at = now or await changes.clock(conn)
        worker_id = await registry.register_worker(conn, name, at, versions=ids, steps=step_ids, schedules=declared)
    return Registration(worker_id, name, versions, step_ids, declared, at)


async def _register_versions(
    conn: Connection, pipelines: Sequence[Pipeline[Any]], now: datetime | None
) -> dict[str, RegisteredVersion]:
    by_name = sorted(pipelines, key=lambda pipeline: pipeline.name)  # in one order: two workers never deadlock
    return {p.name: await registry.register(conn, p.definition(), now) for p in by_name}


async def register_again(
    conn: Connection, before: Registration, pipelines: Sequence[Pipeline[Any]], now: datetime | None
) -> None:
    """Store what the database may have lost about a worker that runs.

    Raises: SchemaError if its number, or that of a version or step, means something else there.
    """
    async with conn.transaction():
        versions = await _register_versions(conn, pipelines, now)
        ids = [version.id for version in versions.values()]
        same = {name: (v.id, v.steps) for name, v in versions.items()}
        is_kept = same == {name: (v.id, v.steps) for name, v in before.versions.items()} and (
            await registry.restore_worker(
                conn,
                before.worker_id,
                before.name,
                now,
                started_at=before.at,
                versions=ids,
                steps=before.steps,
                schedules=before.schedules,
            )
        )
        if not is_kept:
            raise SchemaError(
                f"a failover has lost the registration of worker {before.worker_id}, and its number means something "
                "else now; start it again"
            )
