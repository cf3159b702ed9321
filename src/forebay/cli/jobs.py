"""`forebay jobs` and `forebay job`: lists and reports of jobs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import JOB_ID, WholeNumber
from forebay.db.pool import connected
from forebay.engine.db import overview
from forebay.engine.db.overview import JobRow
from forebay.types import JobState

if TYPE_CHECKING:
    from forebay.cli._job_report import JobReport

_FILTERS = ("state", "pipeline", "owner")
# Columns that are shown when a listed job has such items.
_RARE = {"not found": "not_found", "skipped": "skipped"}


@click.command()
@click.option(
    "--state",
    type=click.Choice([state.value for state in JobState], case_sensitive=False),
    help="Only jobs in this state.",
)
@click.option("--pipeline", help="Only jobs of this pipeline.")
@click.option("--owner", help="Only jobs of this owner.")
@click.option("--limit", type=WholeNumber(1, 10_000), default=20, show_default=True, help="Maximum number of jobs.")
@json_option
def jobs(as_json: bool, **wanted: Any) -> None:
    """List the newest jobs."""
    found = run(_jobs(find_dsn(load_settings()), wanted))
    if as_json:
        click.echo(show.dump([show.job_json(job) for job in found]))
    elif not found:
        click.echo("There are no such jobs." if any(map(wanted.get, _FILTERS)) else "There are no jobs yet.")
    else:
        show.print_table(_job_table(found), spare=("key", "took", "open"))


async def _jobs(dsn: str, wanted: dict[str, Any]) -> list[JobRow]:
    async with connected(dsn, "forebay jobs") as conn:
        return await overview.jobs(conn, **wanted)


def _job_table(found: list[JobRow]) -> Any:
    rare = [(name, counter) for name, counter in _RARE.items() if any(getattr(job, counter) for job in found)]
    keys = ("key",) * any(job.key for job in found)
    counts = (">done", *(f">{name}" for name, _ in rare), ">failed", ">open")
    made = show.table(">job", "*pipeline", "*owner", "state", *counts, "submitted", ">took", *keys)
    for job in found:
        made.add_row(
            str(job.id),
            job.pipeline,
            job.owner,
            show.state(job.state),
            show.number(job.done),
            *(show.faint_zero(getattr(job, counter), "yellow") for _, counter in rare),
            show.faint_zero(job.error, "red"),
            show.faint_zero(job.total - job.ended, "cyan"),
            show.moment(job.created_at),
            show.between(job.started_at, job.finished_at or datetime.now(UTC)),
            *((job.key or "",) * len(keys)),
        )
    return made


@click.command()
@click.argument("job_id", type=JOB_ID, metavar="ID")
@click.option("--items", "all_items", is_flag=True, help="Show the first 500 items of any status.")
@click.option("--watch", is_flag=True, help="Update the output until the job has ended; Ctrl-C stops watching.")
@json_option
def job(job_id: int, *, all_items: bool, watch: bool, as_json: bool) -> None:
    """Show one job: counts, results, failures.

    It shows a few items of each status with their results or reasons; `forebay export` writes all of them to a file.
    """
    from forebay.cli import _job_report as pages  # noqa: PLC0415 - `forebay jobs` does not need it

    dsn = find_dsn(load_settings())
    if watch and not as_json:
        with suppress(KeyboardInterrupt):  # the usual way to end it
            run(_watch(dsn, job_id, all_items=all_items))
        return
    page = run(_read(dsn, job_id, all_items=all_items, until_over=watch))
    if as_json:
        click.echo(show.dump(pages.as_json(page)))
    else:
        show.console().print(pages.drawn(page))


async def _read(dsn: str, job_id: int, *, all_items: bool, until_over: bool = False) -> JobReport:
    from forebay.cli import _job_report as pages  # noqa: PLC0415

    async with connected(dsn, "forebay job") as conn:
        while True:
            page = await pages.read(conn, job_id, all_items=all_items)
            if page.is_over or not until_over:
                return page
            await asyncio.sleep(1)


async def _watch(dsn: str, job_id: int, *, all_items: bool) -> None:
    from rich.live import Live  # noqa: PLC0415

    from forebay.cli import _job_report as pages  # noqa: PLC0415

    async with connected(dsn, "forebay job") as conn:
        with Live(console=show.console(), auto_refresh=False) as live:
            while True:
                page = await pages.read(conn, job_id, all_items=all_items)
                live.update(pages.drawn(page), refresh=True)
                if page.is_over:
                    return
                await asyncio.sleep(1)
