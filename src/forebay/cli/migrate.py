"""`forebay migrate`: bring the schema up to date."""

from __future__ import annotations

import json
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

import click

from forebay.cli._common import find_dsn, json_option, load_own_settings, place_of, run
from forebay.db import migrate as schema
from forebay.db.pool import as_forebay_errors, connected
from forebay.engine.db.registry import register
from forebay.engine.declare.loading import load_pipelines
from forebay.identity.logins import SETTINGS, login_urls, make_logins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.declare.pipeline import Pipeline


@click.command()
@click.option("--pipelines", help="Modules whose pipelines are also registered, comma-separated.")
@click.option("--service", is_flag=True, help="Add what the service needs: identity, files, API and pipelines.")
@click.option("--accounts", is_flag=True, help="Make the accounts of the API and of workers, and print their settings.")
@click.option("--remove", metavar="NAME", help="Remove the schema part of a package, with all its tables.")
@click.option("--table", "tables", multiple=True, help="With --remove: a table that it drops, too; may be repeated.")
@click.option("--dry-run", is_flag=True, help="With --remove: only say what it would drop.")
@click.option("--yes", is_flag=True, help="With --remove: do not ask.")
@json_option
def migrate(
    pipelines: str | None,
    *,
    service: bool,
    accounts: bool,
    remove: str | None,
    tables: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Bring the database's schema up to date; safe while workers run.

    An empty database gets the tables of the engine alone, which need no extension and no role; with --service also
    those of the service, which are kept up to date from then on. With --pipelines, what these modules declare can be
    submitted before a worker has started. With --accounts, the accounts of the service are made, each time with new
    passwords; this needs an account that may create roles.

    With --remove, the tables and functions of a package are dropped before it is uninstalled. It is refused while jobs
    of its pipelines are open, or something of others depends on it.
    """
    if remove is not None:
        if pipelines is not None or service or accounts:
            raise click.UsageError("--remove goes with --table, --dry-run, --yes and --json only.")
        from forebay.cli._remove_part import remove_part  # noqa: PLC0415 - rarely needed

        remove_part(find_dsn(load_own_settings()), remove, tables, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    if tables or dry_run or yes:
        raise click.UsageError("--table, --dry-run and --yes go with --remove only.")
    settings = load_own_settings() if pipelines is None else load_own_settings(pipelines=pipelines)
    dsn = find_dsn(settings)
    declared = [] if pipelines is None else load_pipelines(settings.pipeline_modules)
    for pipeline in declared:
        pipeline.tune(settings)
    applied, versions = run(_migrate(dsn, declared, service=service or accounts))
    names = sorted(pipeline.name for pipeline in declared)
    made = run(_make_accounts(dsn)) if accounts else {}
    if as_json:
        more = ({} if pipelines is None else {"pipelines": names}) | ({"accounts": made} if accounts else {})
        click.echo(json.dumps({"applied": applied, "versions": versions, **more}))
        return
    done = f"{applied} migration{'s' * (applied != 1)} applied" if applied else "nothing to do"
    click.echo(f"{place_of(dsn)}: {done}, the schema has {', '.join(f'{p} {v}' for p, v in versions.items())}")
    if names:
        click.echo(f"registered: {', '.join(names)}")
    for variable, url in made.items():
        click.echo(f"{variable}={url}")


async def _migrate(dsn: str, declared: Sequence[Pipeline[Any]], *, service: bool) -> tuple[int, dict[str, int]]:
    """The number of migrations applied, and the version of each schema part."""
    async with as_forebay_errors():
        applied = await schema.migrate(dsn, service=service)
    async with connected(dsn, "forebay migrate") as conn:
        for pipeline in declared:
            await register(conn, pipeline.definition(), apply=True)
        return applied, await schema.versions_of(conn)


async def _make_accounts(dsn: str) -> dict[str, str]:
    """The addresses of the service's accounts, by their variables."""
    passwords = {role: token_urlsafe(24) for role in SETTINGS}
    await make_logins(dsn, passwords)
    return {f"FOREBAY_{setting.upper()}": url for setting, url in login_urls(dsn, passwords).items()}
