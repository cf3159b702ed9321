"""`forebay export`: a job's items, or the grid of a sheet, as JSON lines, CSV or a workbook, however many they are."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from forebay.cli import _show
from forebay.cli._common import find_dsn, json_option, load_settings, run
from forebay.cli._formats import Csv, JsonLines, Xlsx
from forebay.cli._group import JOB_ID
from forebay.cli._sink import opened
from forebay.db.pool import connected
from forebay.engine.db import lists, overview
from forebay.errors import InvalidField
from forebay.pipelines.sheets.db import grid as grids
from forebay.pipelines.sheets.grid_files import GridFile
from forebay.types import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from forebay.cli._sink import Sink
    from forebay.db.pool import Connection
    from forebay.services.spreadsheets import Kind


@click.command()
@click.argument("job_id", type=JOB_ID, metavar="JOB")
@click.option("--format", "kind", type=click.Choice(["jsonl", "csv", "xlsx"]), default="jsonl", show_default=True)
@click.option(
    "--status",
    "statuses",
    type=click.Choice([status.value for status in ItemStatus], case_sensitive=False),
    multiple=True,
    help="Only items with this status; may be repeated.",
)
@click.option("--output", default="-", show_default=True, metavar="FILE|-", help="Where to; - is standard output.")
@click.option(
    "--with",
    "show",
    type=click.Choice(grids.GROUPS),
    multiple=True,
    help="Of a sheet, also what was read from its own columns, or what was refused or changed then; may be repeated.",
)
@click.option("--raw", is_flag=True, help="Do not escape cells of CSV that a spreadsheet would run as formulas.")
@json_option
def export(
    job_id: int,
    *,
    kind: Kind,
    statuses: tuple[str, ...],
    output: str,
    show: tuple[str, ...],
    raw: bool,
    as_json: bool,
) -> None:
    """Write a job's items or a sheet's grid to a file.

    Of a job that is no sheet: id, status, key, input, result and error of each item. CSV and XLSX have a column for
    each field of input and result that the first 100 items have; those of a sheet have the columns of its grid. With
    --json the summary is JSON; it is on standard error when the items are on standard output.
    """
    if kind == "xlsx" and output == "-" and sys.stdout.isatty():
        raise click.UsageError("a workbook is no text for a terminal: add --output FILE, or redirect with > FILE")
    began = time.monotonic()
    with opened(output) as sink:
        format_ = JsonLines(sink) if kind == "jsonl" else Xlsx(sink) if kind == "xlsx" else Csv(sink, raw=raw)
        count = run(_export(job_id, grids.Part(statuses or None, show=show), format_, sink, kind, raw=raw))
    took = time.monotonic() - began
    summary = {
        "job_id": str(job_id),
        "items": count,
        "bytes": sink.size,
        "seconds": round(took, 3),
        "output": output,
        "incomplete": format_.incomplete,
    }
    text = f"job {job_id}: {_show.plural(count, 'item')}, {_show.size(sink.size)}, in {_show.duration(took)}"
    click.echo(_show.dump(summary) if as_json else text, err=output == "-")
    if format_.incomplete:
        fields = "have fields that the first 100 items do not have, which have no column: --format jsonl has all"
        click.echo(f"{_show.plural(format_.incomplete, 'item')} {fields}", err=True)


async def _export(job_id: int, part: grids.Part, format_: Csv | JsonLines, sink: Sink, kind: Kind, *, raw: bool) -> int:
    count = 0
    async with connected(find_dsn(load_settings()), "forebay export") as conn:
        job = await overview.job(conn, job_id)
        if await grids.is_sheet(conn, job_id):
            return await _export_grid(conn, job_id, part, sink, kind, raw=raw)
        if part.show:
            raise InvalidField("--with", f"job {job_id} is not made of a sheet, so nothing was read from columns")
        items = lists.whole_items(conn, job_id, part.statuses)
        with _progress(job.total) as seen:
            async with aclosing(items):
                async for item in items:
                    format_.add(item)
                    count += 1
                    if count % 100 == 0:
                        seen(item.n)
            format_.end()
    return count


async def _export_grid(conn: Connection, job_id: int, part: grids.Part, sink: Sink, kind: Kind, *, raw: bool) -> int:
    """The file that the API would have written."""

    async def take(data: bytes) -> None:
        await asyncio.to_thread(sink.write_bytes, data)

    async with grids.reading(conn, job_id, part) as grid:
        file = GridFile(grid, kind, raw=raw)
        with _progress(grid.total) as seen:
            await file.write(take, lambda _, upto: seen(upto))
    if file.cut:
        text = f"{_show.plural(file.cut, 'cell')} longer than a workbook can hold cut: --format csv has all"
        click.echo(text, err=True)
    return file.rows


@contextmanager
def _progress(total: int) -> Generator[Callable[[int], None]]:
    """A bar on standard error, if a person sees that."""
    err = Console(stderr=True)
    columns = (TextColumn("items"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bar = progress.add_task("", total=total)

        def seen(n: int) -> None:
            progress.update(bar, completed=n)

        yield seen
