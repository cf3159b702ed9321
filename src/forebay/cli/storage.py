"""`forebay storage`: usage, check and cleanup of stored files."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress, TextColumn

from forebay.cli import _show as show
from forebay.cli._common import duration, find_dsn, json_option, load_settings, run
from forebay.cli._group import Group
from forebay.db import migrate
from forebay.db.pool import as_forebay_errors, connected, open_pool
from forebay.db.schema_parts import ENGINE, SERVICE
from forebay.storage import db as files

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Connection
    from forebay.storage import Store
    from forebay.storage.checking import Report
    from forebay.storage.db import OwnerUsage, StorageUsage

_SHORTEST_GRACE = 600


@click.group(cls=Group)
def storage() -> None:
    """Show, check and clean stored files.

    Their contents are blobs in FOREBAY_STORAGE_URL.
    """


@asynccontextmanager
async def _connected() -> AsyncGenerator[Connection]:
    async with connected(find_dsn(load_settings()), "forebay storage") as conn:
        await migrate.check(conn, (ENGINE, *SERVICE))
        yield conn


def _store() -> Store:
    from forebay.storage import open_store  # noqa: PLC0415 - an extra

    return open_store(load_settings())


@storage.command()
@json_option
def usage(as_json: bool) -> None:
    """Show how much each owner stores."""
    whole, owners = run(_usage())
    if as_json:
        click.echo(show.dump({**asdict(whole), "owners": [asdict(owner) for owner in owners]}))
    else:
        _print_usage(whole, owners)


async def _usage() -> tuple[StorageUsage, list[OwnerUsage]]:
    async with _connected() as conn:
        return await files.usage(conn)


def _print_usage(whole: StorageUsage, owners: list[OwnerUsage]) -> None:
    if owners:
        made = show.table("*owner", ">files", ">size")
        rows = ((owner.owner, show.number(owner.files), show.size(owner.bytes)) for owner in owners)
        show.print_table(show.fill(made, rows))
    click.echo(f"{show.plural(whole.blobs, 'blob')}, {show.size(whole.bytes)}")
    if whole.loose_blobs:
        click.echo(f"{show.number(whole.loose_blobs)} of them, {show.size(whole.loose_bytes)}, belong to no file")
    if whole.waste:
        click.echo(f"{show.plural(whole.waste, 'object')}, {show.size(whole.waste_bytes)}, to be deleted")


@storage.command()
@click.option("--deep", is_flag=True, help="Read all contents and compare them with their hashes.")
@json_option
def check(deep: bool, as_json: bool) -> None:
    """Check that all stored files exist.

    Exit code 1 when something is missing or damaged.
    """
    report = run(_check(deep=deep))
    if as_json:
        click.echo(show.dump(_report_json(report)))
    else:
        _print_report(report, deep=deep)
    sys.exit(1 if report.damages else 0)


async def _check(*, deep: bool) -> Report:
    from forebay.storage import checking  # noqa: PLC0415 - an extra

    store, err = _store(), Console(stderr=True)
    columns = (TextColumn("blobs checked: {task.completed}"),)
    async with _connected() as conn:
        with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
            bar = progress.add_task("", total=None)
            return await checking.check(
                conn, store, deep=deep, progress=lambda count: progress.update(bar, completed=count)
            )


def _report_json(report: Report) -> dict[str, Any]:
    found = asdict(report)
    for damage in found["damages"]:
        damage["file_ids"] = [str(each) for each in damage["file_ids"]]
    return {"ok": not report.damages, **found}


_WORDS = {
    "missing": "is missing",
    "size": "has the wrong size",
    "content": "has the wrong content",
}


def _print_report(report: Report, *, deep: bool) -> None:
    for damage in report.damages:
        of = f"{show.plural(len(damage.file_ids), 'file')}: {', '.join(map(str, damage.file_ids))}"
        click.echo(f"{damage.key} {_WORDS[damage.kind]} ({of})")
    seen = "read" if deep else "checked"
    damaged = f"{show.number(len(report.damages))} damaged" if report.damages else "none damaged"
    click.echo(f"{show.plural(report.blobs, 'blob')}, {show.size(report.bytes)}, {seen}: {damaged}")
    if report.unknown:
        of = f"{show.plural(report.unknown, 'object')}, {show.size(report.unknown_bytes)}"
        click.echo(f"{of}, in the store but unknown to this database")


@storage.command()
@click.option("--grace", help="Delete blobs that are unused for this long, at least 10min.  [FOREBAY_STORAGE_GRACE_S]")
@json_option
def clean(grace: str | None, as_json: bool) -> None:
    """Delete blobs that no file refers to.

    Workers do this regularly.
    """
    seconds = load_settings().storage_grace_s if grace is None else duration(grace)
    if seconds < _SHORTEST_GRACE:
        raise click.BadParameter("must be at least 10min: a blob being stored has no file yet", param_hint="--grace")
    count = run(_clean(timedelta(seconds=seconds)))
    show.answer({"deleted": count}, f"{show.plural(count, 'object')} deleted", as_json=as_json)


async def _clean(grace: timedelta) -> int:
    from forebay import storage  # noqa: PLC0415 - an extra

    settings, store = load_settings(), _store()
    async with _connected():
        pass  # reports problems of the database
    async with (
        await open_pool(
            find_dsn(settings), size=2, name="forebay storage", prepared=settings.prepared_statements
        ) as pool,
        as_forebay_errors(),
    ):
        return await storage.clean(pool, store, grace=grace)
