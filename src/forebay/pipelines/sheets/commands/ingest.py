"""`forebay ingest`: read files of rows from a shell, or from declared sources."""

from __future__ import annotations

import json
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from pydantic import ValidationError

from forebay.cli import _job_report as pages
from forebay.cli import _show as show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._group import WholeNumber
from forebay.cli._owner import choose_owner, owner_option
from forebay.cli._pipelines import make_known
from forebay.cli._waiting import ended
from forebay.db.pool import connected
from forebay.errors import InvalidField
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.intake.scans import ScanRequest
from forebay.intake.sources import find_source
from forebay.pipelines.sheets.catalogue_rows import catalogue_rows
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.intake import sheet_intake, sheet_scans
from forebay.pipelines.sheets.known_providers import find_unknown_provider
from forebay.pipelines.sheets.reading import SheetOptions
from forebay.pipelines.sheets.steps import sheet_images
from forebay.pipelines.sheets.steps import sheets as sheet_rows
from forebay.services.products.columns import FIELDS
from forebay.services.spreadsheets import detect
from forebay.storage import open_store
from forebay.validation import plain_reason

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.settings import Settings

_ALL = (sheet_intake, sheet_rows, sheet_images, catalogue_rows, sheet_scans)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--scan", "sources", multiple=True, metavar="SOURCE", help="Read the new files of a declared source.")
@owner_option
@click.option("--column", "columns", multiple=True, metavar="FIELD=COLUMN", help="The column of a field.")
@click.option("--key", "key", multiple=True, metavar="COLUMN", help="Rows with the same value here are duplicates.")
@click.option("--provider", "providers", multiple=True, help="Query this provider first; may be repeated.")
@click.option("--catalogue", metavar="NAME", help="Load the rows into the catalogue of this name.")
@click.option("--options", "more", metavar="JSON", help='Options, such as {"header": false, "encoding": "cp1252"}.')
@click.option("--priority", type=WholeNumber(-100, 100), default=0, show_default=True, help="Higher goes first.")
@click.option("--wait", is_flag=True, help="Wait until all rows have ended; exit code 1 when a file cannot be read.")
@json_option
def ingest(files: tuple[Path, ...], sources: tuple[str, ...], *, wait: bool, as_json: bool, **given: Any) -> None:
    """Read files of rows (CSV, XLSX) or images.

    Each file, which may be a ZIP of images, becomes a job whose items are its rows.

    \b
    forebay ingest products.csv --column title=Name --wait
    forebay ingest catalogue.xlsx --catalogue ours
    forebay ingest --scan drop
    """
    if not files and not sources:
        raise click.UsageError("name files, or sources with --scan")
    settings = load_settings()
    for name in sources:
        find_source(FILES, settings, name)
    for file in files:
        _check(file)
    taken = run(_ingest(settings, files, sources, _options(given), given, wait=wait, quiet=as_json))
    _tell(taken, as_json=as_json)
    if any(each.get("problem") for each in taken):
        sys.exit(1)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the files.

    Raises: InvalidField that names the option of the command line.
    """
    try:
        values: Any = json.loads(given["more"] or "{}")
    except ValueError as error:
        raise InvalidField("--options", f"is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidField("--options", 'must be an object, such as {"header": false}')
    named = {"key": list(given["key"]), "providers": list(given["providers"]), "catalogue": given["catalogue"]}
    named["columns"] = dict(map(_column, given["columns"]))
    said = cast("dict[str, Any]", values) | {name: value for name, value in named.items() if value}
    try:
        options = SheetOptions.model_validate(said)
    except ValidationError as error:
        raise _refused(error, {name for name, value in named.items() if value}) from error
    for field in options.columns:
        _check_field(field, "--options columns" if field not in named["columns"] else "--column")
    return options.model_dump(by_alias=True, exclude_defaults=True)


def _column(pair: str) -> tuple[str, str]:
    field, sign, column = pair.partition("=")
    if not sign or not column:
        raise InvalidField("--column", f"must be FIELD=COLUMN, such as title=Name; it is {pair!r}")
    return field, column


def _check_field(field: str, option: str) -> None:
    if field not in FIELDS:
        near = get_close_matches(field, FIELDS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InvalidField(option, f"there is no field {field!r}: {hint}The fields are {', '.join(FIELDS)}")


_OPTIONS = {"columns": "--column", "key": "--key", "providers": "--provider", "catalogue": "--catalogue"}


def _refused(error: ValidationError, named: set[str]) -> InvalidField:
    """The first validation error, with the name of the option."""
    first = error.errors(include_url=False)[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    option = _OPTIONS[field] if field in named else f"--options {'.'.join(map(str, first['loc']))}"
    if field == "catalogue":
        return InvalidField(option, "must begin with a-z, and have up to 50 of a-z, 0-9, _ and -")
    return InvalidField(option, plain_reason(first))


def _check(file: Path) -> None:
    """Reject files that are neither tables nor images before anything is written."""
    with file.open("rb") as opened:
        found = detect(opened)
    if found.kind == "unknown":
        raise InvalidField(str(file), found.reason)


async def _ingest(
    settings: Settings,
    files: tuple[Path, ...],
    sources: tuple[str, ...],
    options: dict[str, Any],
    given: dict[str, Any],
    *,
    wait: bool,
    quiet: bool,
) -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = []
    store = open_store(settings) if files else None
    async with connected(find_dsn(settings), "forebay ingest") as conn:
        if (reason := await find_unknown_provider(conn, settings, options.get("providers"))) is not None:
            raise InvalidField("--provider" if given["providers"] else "--options providers", reason)
        await make_known(conn, settings, *_ALL)
        for name in sources:
            declared = find_source(FILES, settings, name)
            job = await sheet_scans.submit(conn, ScanRequest(source=name), owner=declared.owner)
            taken.append({"source": name, "job_id": str(job.job_id)})
        owner = await choose_owner(conn, settings, given["owner"], quiet=quiet) if files else ""
        for file in files:
            if store is not None:
                new = LocalFile(NewFile(file.name[-500:], file.stat().st_size, options), file)
                added = await submit_file(FILES, conn, store, owner, new, FileTerms(priority=given["priority"]))
                taken.append({"file": str(file), "job_id": str(added.job_id), "sheet_id": str(added.reference)})
        if wait:
            for each in taken:
                each.update(await _waited(conn, each))
    return taken


async def _waited(conn: Connection, taken: dict[str, Any]) -> dict[str, Any]:
    """Wait for a job, with a progress bar on standard error if it is a terminal."""
    job = await ended(conn, int(taken["job_id"]))
    page = await pages.read(conn, job.job_id)
    counts = {name: getattr(job, name) for name in ("state", "total", "done", "skipped", "not_found", "error")}
    told = {**counts, "reasons": list(page.reasons)}
    return told if "source" in taken else {**told, "problem": page.problem}


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
            for reason in each["reasons"]:
                click.echo(f"  {reason}", err=True)
        else:
            click.echo(f"`forebay job {each['job_id']}` shows its progress.", err=True)
