"""`forebay jobs` and `forebay job`: what was submitted, and what became of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.db import overview
from forebay.db.overview import DeadLetter, JobRow
from forebay.types import JobState


@click.command()
@click.option(
    "--state", type=click.Choice([state.value for state in JobState], case_sensitive=False), help="Only these."
)
@click.option("--pipeline", help="Only of this pipeline.")
@click.option("--owner", help="Only of this owner.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many at most.")
@json_option
def jobs(as_json: bool, **wanted: Any) -> None:
    """List the newest jobs."""
    found = run(_jobs(find_dsn(load_settings()), wanted))
    if as_json:
        click.echo(show.dump([show.job_json(job) for job in found]))
    elif not found:
        click.echo("There are no such jobs.")
    else:
        show.console().print(_job_table(found))


async def _jobs(dsn: str, wanted: dict[str, Any]) -> list[JobRow]:
    async with overview.connected(dsn, "forebay jobs") as conn:
        return await overview.jobs(conn, **wanted)


def _job_table(found: list[JobRow]) -> Any:
    made = show.table(">job", "pipeline", "owner", "state", ">done", ">failed", ">open", "submitted", ">took", "key")
    for job in found:
        made.add_row(
            str(job.id),
            job.pipeline,
            job.owner,
            show.state(job.state),
            show.number(job.ended - job.error),
            show.faint_zero(job.error, "red"),
            show.faint_zero(job.total - job.ended, "cyan"),
            show.moment(job.created_at),
            show.between(job.started_at, job.finished_at or datetime.now(UTC)),
            job.key or "",
        )
    return made


@click.command()
@click.argument("job_id", type=click.IntRange(1), metavar="ID")
@json_option
def job(job_id: int, as_json: bool) -> None:
    """Show one job: its counters, what its last steps returned, and what failed."""
    row, letters, result = run(_job(find_dsn(load_settings()), job_id))
    if as_json:
        letters_json = [show.letter_json(letter) for letter in letters]
        click.echo(show.dump({**show.job_json(row), "result": result, "dead_letters": letters_json}))
    else:
        show.console().print(_job_page(row, letters, result))


async def _job(dsn: str, job_id: int) -> tuple[JobRow, list[DeadLetter], dict[str, Any]]:
    async with overview.connected(dsn, "forebay job") as conn:
        row = await overview.job(conn, job_id)
        return row, await overview.dead_letters(conn, job_id=job_id), await overview.own_result(conn, job_id)


def _job_page(row: JobRow, letters: list[DeadLetter], result: dict[str, Any]) -> Any:
    facts = show.table("", "")
    facts.show_header = False
    counts = f"{row.done} done, {row.skipped} skipped, {row.not_found} not found, {row.error} failed"
    show.fill(
        facts,
        [
            ("job", Text(f"{row.id}, {row.pipeline} of {row.owner}")),
            ("state", show.state(row.state)),
            ("items", f"{show.number(row.ended)} of {show.number(row.total)}: {counts}"),
            ("submitted", show.moment(row.created_at)),
            ("waited", show.between(row.created_at, row.started_at)),
            ("took", show.between(row.started_at, row.finished_at or datetime.now(UTC))),
            *((("key", Text(row.key)),) if row.key else ()),
            *((step, Text(show.dump(value))) for step, value in result.items()),
        ],
    )
    if not letters:
        return facts
    failed = show.table(">item", "step", "class", ">attempt", "failed at", "*reason", expand=True)
    failed.columns[-1].no_wrap = False
    for letter in letters:
        kind, reason = letter.error_class or "", Text(letter.reason or "")
        failed.add_row(str(letter.n), letter.step, kind, str(letter.attempt), show.moment(letter.at), reason)
    return Group(facts, Text(), failed)
