"""`forebay migrate --remove`: drop what a package has in the database."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from forebay.cli import _show as show
from forebay.cli._common import load_own_settings, place_of, run
from forebay.db import removing
from forebay.db.migrate import lock_schema
from forebay.db.pool import connected
from forebay.engine.db.registry import count_open_jobs, list_schedules
from forebay.engine.declare.loading import load_pipelines
from forebay.engine.maintenance.schedules import remove_schedule
from forebay.errors import ForebayError, InvalidField
from forebay.intake import db as intake
from forebay.intake.parts import part_key
from forebay.packages import packages
from forebay.storage import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.db.pool import Connection


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is dropped and deleted."""

    removal: removing.Removal
    schedules: Sequence[str]
    targets: Sequence[str]  # intake targets that have rows

    @property
    def lines(self) -> list[str]:
        schedules = [f"schedule {name}" for name in self.schedules]
        targets = [f"files of the intake target {name}" for name in self.targets]
        return [*self.removal.tables, *self.removal.routines, *schedules, *targets]


def remove_part(dsn: str, name: str, tables: Sequence[str], *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show what would be dropped, ask, and drop it.

    Raises: InvalidField; ForebayError while jobs of its pipelines are open.
    """
    plan = run(_look(dsn, name, tables))
    answer = {"part": name, "drops": plan.lines}
    if dry_run:
        show.answer(answer | {"removed": False}, "\n".join(["would drop:", *plan.lines]), as_json=as_json)
        return
    if not yes:
        _ask(dsn, plan)
    run(_remove(dsn, name, tables))
    done = f"{place_of(dsn)}: removed {name}, dropped {show.plural(len(plan.lines), 'object')}"
    if any(package.name == name for package in packages()):
        done += "; its package is still installed: uninstall it, or the next migrate makes it again"
    show.answer(answer | {"removed": True}, done, as_json=as_json)


def _ask(dsn: str, plan: _Plan) -> None:
    if not sys.stdin.isatty():
        raise InvalidField("--remove", "drops tables with their rows: look with --dry-run, then confirm with --yes")
    click.echo("\n".join(plan.lines), err=True)
    click.confirm(f"Drop all this from {place_of(dsn)}, with all rows?", abort=True, err=True)


async def _look(dsn: str, name: str, tables: Sequence[str]) -> _Plan:
    async with connected(dsn, "forebay migrate") as conn:
        return await _plan(conn, name, tables)


async def _remove(dsn: str, name: str, tables: Sequence[str]) -> None:
    async with connected(dsn, "forebay migrate") as conn:
        await lock_schema(conn)
        async with conn.transaction():
            plan = await _plan(conn, name, tables)
            await removing.remove_part(conn, plan.removal)
            for schedule in plan.schedules:
                await remove_schedule(conn, schedule)
            parts = await intake.delete_target_rows(conn, plan.targets) if plan.targets else []
    if parts:
        store = open_store(load_own_settings())
        for reference, part in parts:
            await store.delete(part_key(reference, part))


async def _plan(conn: Connection, name: str, tables: Sequence[str]) -> _Plan:
    removal = await removing.plan_removal(conn, name, tables)
    pipelines, schedules, targets = _belongings(name)
    if unfinished := await count_open_jobs(conn, pipelines):
        told = ", ".join(f"{show.plural(jobs, 'job')} of {pipeline}" for pipeline, jobs in unfinished.items())
        raise ForebayError(f"{name} cannot be removed while jobs are open: {told}. Finish or cancel them first")
    with_rows = await intake.list_target_rows(conn, targets)
    return _Plan(removal, await list_schedules(conn, pipelines, schedules), with_rows)


def _belongings(name: str) -> tuple[list[str], list[str], list[str]]:
    """The pipelines, schedules and intake targets of a package; if it is not installed, those with its name."""
    for package in packages():
        if package.name == name:
            modules = [f"{package.module}.{module}" for module in package.pipelines]
            pipelines = [pipeline.name for pipeline in load_pipelines(modules)] if modules else []
            return pipelines, [chore.schedule for chore in package.chores], list(package.intake)
    return [name], [], [name]
