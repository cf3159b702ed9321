"""`forebay ingest`: files of rows from a shell, or out of declared sources."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._waiting import ended
from forebay.db import overview, registry, sheets
from forebay.db.sheets import NewSheet
from forebay.errors import InvalidField
from forebay.pipelines import catalogue_rows, sheet_images, sheet_intake, sheet_scans
from forebay.pipelines import sheets as sheet_rows
from forebay.pipelines.sheet_intake import hand_in
from forebay.pipelines.sheet_scans import ScanRequest
from forebay.pipelines.sheet_sources import find_source
from forebay.services.sheet_reading import SheetOptions
from forebay.services.spreadsheets import detect
from forebay.storage import open_store

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.settings import Settings

_ALL = (sheet_intake, sheet_rows, sheet_images, catalogue_rows, sheet_scans)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--scan", "sources", multiple=True, metavar="SOURCE", help="Take what is new in a declared source.")
@click.option("--owner", default="default", show_default=True, help="Whom the rows belong to.")
@click.option("--column", "columns", multiple=True, metavar="FIELD=COLUMN", help="Which column holds a field.")
@click.option("--key", "key", multiple=True, metavar="COLUMN", help="Rows with the same value here are one.")
@click.option("--provider", "providers", multiple=True, help="Ask this one first; may be repeated.")
@click.option("--catalogue", metavar="NAME", help="Make the rows the catalogue of this name, to look others up in.")
@click.option("--options", "more", metavar="JSON", help='All else, as {"header": false, "encoding": "cp1252"}.')
@click.option("--priority", type=click.IntRange(-100, 100), default=0, show_default=True, help="Higher goes first.")
@click.option("--wait", is_flag=True, help="Wait until all rows have ended; exit code 1 when a file cannot be read.")
@json_option
def ingest(files: tuple[Path, ...], sources: tuple[str, ...], *, wait: bool, as_json: bool, **given: Any) -> None:
    """Take in files of rows (CSV, XLSX) or pictures (also in a ZIP); each becomes a job whose items are its rows.

    \b
    forebay ingest products.csv --column title=Name --wait
    forebay ingest catalogue.xlsx --catalogue ours
    forebay ingest --scan drop
    """
    if not files and not sources:
        raise click.UsageError("name files, or sources by --scan")
    settings = load_settings()
    for name in sources:
        find_source(settings, name)
    for file in files:
        _check(file)
    taken = run(_ingest(settings, files, sources, _options(given), given["owner"], given["priority"], wait=wait))
    _tell(taken, as_json=as_json)
    if any(each.get("problem") for each in taken):
        sys.exit(1)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """Raises: InvalidField."""
    try:
        values: dict[str, Any] = json.loads(given["more"] or "{}")
    except ValueError as error:
        raise InvalidField("options", f"is not JSON: {error}") from error
    columns = dict(pair.partition("=")[::2] for pair in given["columns"])
    named = {"key": list(given["key"]), "providers": list(given["providers"]), "catalogue": given["catalogue"]}
    values |= {name: value for name, value in {**named, "columns": columns}.items() if value}
    try:
        return SheetOptions.model_validate(values).model_dump(by_alias=True, exclude_defaults=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidField(f"options.{'.'.join(map(str, first['loc']))}", first["msg"]) from error


def _check(file: Path) -> None:
    """What is neither a table nor a picture is refused before anything is written."""
    with file.open("rb") as opened:
        found = detect(opened)
    if found.kind == "unknown":
        raise InvalidField(str(file), found.reason)


async def _ingest(
    settings: Settings,
    files: tuple[Path, ...],
    sources: tuple[str, ...],
    options: dict[str, Any],
    owner: str,
    priority: int,
    *,
    wait: bool,
) -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = []
    store = open_store(settings) if files else None
    async with overview.connected(find_dsn(settings), "forebay ingest") as conn:
        for pipeline in _ALL:
            pipeline.tune(settings)  # else what a worker has registered would change with each file
            await registry.register(conn, pipeline.definition())
        for name in sources:
            declared = find_source(settings, name)
            job = await sheet_scans.submit(conn, ScanRequest(source=name), owner=declared.owner)
            taken.append({"source": name, "job_id": str(job.job_id)})
        for file in files:
            if store is not None:
                new = NewSheet(file.name[-500:], file.stat().st_size, options)
                added = await hand_in(conn, store, owner, new, file, priority=priority)
                taken.append({"file": str(file), "job_id": str(added.job_id), "sheet_id": str(added.id)})
        if wait:
            for each in taken:
                each.update(await _waited(conn, each))
    return taken


async def _waited(conn: Connection, taken: dict[str, Any]) -> dict[str, Any]:
    """How a job has ended, with a bar on standard error while a person waits."""
    job = await ended(conn, int(taken["job_id"]))
    counts = {name: getattr(job, name) for name in ("state", "total", "done", "skipped", "not_found", "error")}
    sheet = await sheets.get(conn, job_id=job.job_id)
    return counts if sheet is None else {**counts, "problem": sheet.problem}


def _tell(taken: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        for each in taken:
            click.echo(show.dump(each))
        return
    for each in taken:
        what = f"source {each['source']}" if "source" in each else each["file"]
        click.echo(f"{what}: job {each['job_id']}")
        if "state" in each:
            counts = f"{each['done']} done, {each['not_found']} not found, {each['error']} failed"
            click.echo(f"  {each['state']}: {show.plural(each['total'], 'row')}, {counts}")
        if each.get("problem"):
            click.echo(f"  {each['problem']}", err=True)
