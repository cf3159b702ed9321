"""`forebay pipelines`: the versions of pipelines, which of them have open jobs, and who runs them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import Group, WholeNumber
from forebay.db.pool import connected
from forebay.engine.db import versions as db

if TYPE_CHECKING:
    from forebay.engine.db.versions import VersionRow


@click.group(cls=Group, invoke_without_command=True)
@json_option
@click.pass_context
def pipelines(ctx: click.Context, *, as_json: bool) -> None:
    """List pipelines and their versions.

    A job keeps the version of its pipeline that was present when it was submitted. When no worker runs that version any
    more, the job continues by the present one.
    """
    if ctx.invoked_subcommand is not None:
        return
    found = run(_versions(find_dsn(load_settings())))
    if as_json:
        click.echo(show.dump([asdict(version) for version in found]))
    elif not found:
        click.echo("There are no pipelines yet: a worker registers them when it starts.")
    else:
        show.print_table(_table(found))


async def _versions(dsn: str) -> list[VersionRow]:
    async with connected(dsn, "forebay pipelines") as conn:
        return await db.versions(conn)


def _table(found: list[VersionRow]) -> Any:
    lacking = ("*no worker runs",) * any(version.unserved for version in found)
    made = show.table("pipeline", ">version", "", ">open jobs", ">workers", "*steps", *lacking)
    for version in found:
        made.add_row(
            version.pipeline,
            str(version.number),
            "present" if version.is_present else "",
            show.number(version.open_jobs),
            show.number(version.workers),
            ", ".join(version.steps),
            *((", ".join(version.unserved),) * len(lacking)),
        )
    return made


@pipelines.command()
@click.argument("name")
@click.argument("version", type=WholeNumber(1, 1_000_000))
def use(name: str, version: int) -> None:
    """Choose the version of a pipeline for new jobs.

    Needed only to go back to an older release at once when workers of the newer one are lost, not stopped: otherwise
    that happens after ten minutes. Open jobs of other versions follow when no worker runs those.
    """
    run(_use(find_dsn(load_settings()), name, version))
    click.echo(f"New jobs of {name} use version {version}.")


async def _use(dsn: str, name: str, number: int) -> None:
    async with connected(dsn, "forebay pipelines") as conn:
        await db.use_version(conn, name, number)
