"""`forebay migrate`: bring the schema up to date."""

from __future__ import annotations

import json

import click

from forebay.cli._common import find_dsn, json_option, load_settings, place_of, run
from forebay.db import migrate as schema
from forebay.db import overview


@click.command()
@json_option
def migrate(as_json: bool) -> None:
    """Bring the database's schema up to date; safe while workers run."""
    dsn = find_dsn(load_settings())
    applied = run(_migrate(dsn))
    version = schema.migrations()[-1].version
    if as_json:
        click.echo(json.dumps({"applied": applied, "version": version}))
    elif applied:
        click.echo(
            f"{place_of(dsn)}: {applied} migration{'s' * (applied != 1)} applied, the schema has version {version}"
        )
    else:
        click.echo(f"{place_of(dsn)}: nothing to do, the schema has version {version}")


async def _migrate(dsn: str) -> int:
    async with overview.in_words():
        return await schema.migrate(dsn)
