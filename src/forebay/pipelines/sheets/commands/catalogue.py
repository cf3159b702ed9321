"""`forebay catalogue`: list, share and delete product catalogues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from forebay.cli import _show as show
from forebay.cli._common import json_option, load_settings, run
from forebay.cli._group import Group
from forebay.cli._owner import choose_owner, owner_option
from forebay.cli.database import open_database
from forebay.errors import NotFoundError
from forebay.identity import owners
from forebay.pipelines.sheets.db import catalogues

if TYPE_CHECKING:
    import asyncpg

    from forebay.db.pool import Connection

_owner = owner_option


@click.group(cls=Group)
def catalogue() -> None:
    """List, share and delete product catalogues.

    Rows of sheets are matched with their products. `forebay ingest FILE --catalogue NAME` creates one.
    """


@catalogue.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List all catalogues."""
    rows = run(_list())
    if as_json:
        click.echo(show.dump([{name: value for name, value in row.items() if name != "id"} for row in rows]))
        return
    made = show.table("*catalogue", "*owner", ">products", "shared")
    told = ((row["name"], row["owner"], show.number(row["products"]), "yes" if row["shared"] else "") for row in rows)
    show.print_table(show.fill(made, told))


async def _list() -> list[asyncpg.Record]:
    async with open_database(__name__) as conn:
        return await catalogues.find(conn, None)


@catalogue.command()
@click.argument("name")
@_owner
def drop(name: str, owner: str | None) -> None:
    """Delete a catalogue and its products."""
    whose = run(_drop(name, owner))
    click.echo(f"catalogue {name} of {whose} is deleted")


async def _drop(name: str, given: str | None) -> str:
    async with open_database(__name__) as conn:
        owner = await choose_owner(conn, load_settings(), given)
        if not await catalogues.drop(conn, await _owner_id(conn, owner), name):
            raise _not_there(name, owner)
        return owner


@catalogue.command()
@click.argument("name")
@_owner
@click.option("--off", is_flag=True, help="Stop sharing the catalogue.")
def share(name: str, owner: str | None, off: bool) -> None:
    """Share a catalogue with all users."""
    whose = run(_share(name, owner, shared=not off))
    click.echo(f"catalogue {name} of {whose} is " + ("no longer shared" if off else "shared with all users"))


async def _share(name: str, given: str | None, *, shared: bool) -> str:
    async with open_database(__name__) as conn:
        owner = await choose_owner(conn, load_settings(), given)
        if not await catalogues.share(conn, await _owner_id(conn, owner), name, shared=shared):
            raise _not_there(name, owner)
        return owner


async def _owner_id(conn: Connection, owner: str) -> int:
    found = await owners.find(conn, owner)
    if found is None:
        raise NotFoundError("owner", f"there is no owner {owner!r}")
    return found


def _not_there(name: str, owner: str) -> NotFoundError:
    return NotFoundError("catalogue", f"{owner} has no catalogue {name!r}")
