"""`forebay search`: the models of the index, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import Group
from forebay.cli.database import open_database
from forebay.db.pool import open_pool
from forebay.errors import InvalidField, NotFoundError
from forebay.search import db
from forebay.search.backfill import fill as fill_index

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection

_LONGEST_S = 24 * 3600.0


@click.group(cls=Group)
def search() -> None:
    """The index of all searches: its models, and what it has."""


@search.command()
@json_option
def models(as_json: bool) -> None:
    """List the models: the searched one, one being built, former ones."""
    rows, missing = run(_models())
    if as_json:
        listed = [{**dict(row), "missing": missing.get(row["name"])} for row in rows]
        click.echo(show.dump(listed))
        return
    made = show.table("*model", "state", ">dimensions", ">missing", ">job")
    told = (
        (row["name"], row["state"], str(row["dimensions"]), str(missing.get(row["name"], "")), str(row["job_id"] or ""))
        for row in rows
    )
    show.print_table(show.fill(made, told))


async def _models() -> tuple[list[asyncpg.Record], dict[str, int]]:
    async with open_database(__name__) as conn:
        return await db.list_models(conn), {row["name"]: row["count"] for row in await db.count_missing(conn)}


@search.command()
@click.argument("name")
@click.option("--anyway", is_flag=True, help="Also if it lacks documents.")
def use(name: str, anyway: bool) -> None:
    """Search with a model that has been built, such as the former one."""
    run(_use(name, anyway=anyway))
    click.echo(f"searches use {name} now")


async def _use(name: str, *, anyway: bool) -> None:
    async with open_database(__name__) as conn:
        missing = await db.activate_model(conn, await _find(conn, name), anyway=anyway)
        if missing and not anyway:
            raise InvalidField("name", f"the model {name} lacks {missing} documents: add --anyway to search with it")


@search.command()
@click.argument("name")
def forget(name: str) -> None:
    """Delete the vectors of a former model."""
    run(_forget(name))
    click.echo(f"the model {name} is deleted")


async def _forget(name: str) -> None:
    async with open_database(__name__) as conn:
        if not await db.drop_model(conn, await _find(conn, name)):
            raise InvalidField("name", f"the model {name} is in use: configure and build another one first")


async def _find(conn: Connection, name: str) -> int:
    for row in await db.list_models(conn):
        if row["name"] == name:
            return int(row["id"])
    raise NotFoundError("name", f"the index has no model {name!r}: `forebay search models` lists them")


@search.command()
@click.option("--again", is_flag=True, help="Begin anew, also with what was added before.")
def fill(again: bool) -> None:
    """Put what was there before the index into it. Workers do the same, ten minutes at a time."""
    run(_fill(again=again))
    click.echo("the index has everything; workers embed what is new")


async def _fill(*, again: bool) -> None:
    async with open_database(__name__):
        pass  # its tables are there
    async with await open_pool(find_dsn(load_settings()), size=2, name="forebay search") as pool:
        await fill_index(pool, seconds=_LONGEST_S, again=again)
