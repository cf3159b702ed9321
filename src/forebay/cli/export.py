"""`forebay export`: a job's items, or the table of its pipeline, as JSON Lines, CSV or a workbook."""

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
from forebay.hooks import ExportOptions, ExportTarget
from forebay.packages import job_hooks
from forebay.types import ItemStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from forebay.cli._sink import Sink
    from forebay.db.pool import Connection
    from forebay.engine.db.overview import JobRow
    from forebay.hooks import Exported
    from forebay.services.spreadsheets import FileFormat


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
@click.option("--output", default="-", show_default=True, metavar="FILE|-", help="Target file; - is standard output.")
@click.option(
    "--with",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="Also these groups of columns, if the job's pipeline has them; may be repeated.",
)
@click.option("--raw", is_flag=True, help="Do not escape CSV cells that a spreadsheet would run as formulas.")
@json_option
def export(
    job_id: int,
    *,
    kind: FileFormat,
    statuses: tuple[str, ...],
    output: str,
    groups: tuple[str, ...],
    raw: bool,
    as_json: bool,
) -> None:
    """Write a job's items to a file.

    For each item: id, status, key, input, result and error, unless the pipeline defines its own table. CSV and XLSX
    have a column for each field of input and result in the first 100 items. With --json the summary is JSON; it goes to
    standard error when the items go to standard output.
    """
    if kind == "xlsx" and output == "-" and sys.stdout.isatty():
        raise click.UsageError("a workbook cannot be printed to a terminal: add --output FILE, or redirect with > FILE")
    began = time.monotonic()
    with opened(output) as sink:
        format_ = JsonLines(sink) if kind == "jsonl" else Xlsx(sink) if kind == "xlsx" else Csv(sink, raw=raw)
        count = run(_export(job_id, ExportOptions(kind, statuses or None, groups, raw), format_, sink))
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
        fields = "have fields that the first 100 items lack, which have no column: --format jsonl has all"
        click.echo(f"{_show.plural(format_.incomplete, 'item')} {fields}", err=True)


async def _export(job_id: int, options: ExportOptions, format_: Csv | JsonLines, sink: Sink) -> int:
    async with connected(find_dsn(load_settings()), "forebay export") as conn:
        job = await overview.job(conn, job_id)
        with _progress(job.total) as seen:
            written = await _export_own(conn, job, options, sink, seen)
            if written is None:
                return await _export_items(conn, job_id, options, format_, seen)
    for note in written.notes:
        click.echo(note, err=True)
    return written.items


async def _export_own(
    conn: Connection, job: JobRow, options: ExportOptions, sink: Sink, seen: Callable[[int], None]
) -> Exported | None:
    """The table of the job's pipeline, if it defines one."""

    async def write(data: bytes) -> None:
        await asyncio.to_thread(sink.write_bytes, data)

    written = await job_hooks(job.pipeline).export(conn, job.id, options, ExportTarget(write, seen))
    if written is None and options.groups:
        raise InvalidField("--with", f"the items of job {job.id} ({job.pipeline}) have no groups of columns")
    return written


async def _export_items(
    conn: Connection, job_id: int, options: ExportOptions, format_: Csv | JsonLines, seen: Callable[[int], None]
) -> int:
    count = 0
    async with aclosing(lists.full_items(conn, job_id, options.statuses)) as items:
        async for item in items:
            format_.add(item)
            count += 1
            if count % 100 == 0:
                seen(item.n)
    format_.end()
    return count


@contextmanager
def _progress(total: int) -> Generator[Callable[[int], None]]:
    """A progress bar on standard error, if it is a terminal."""
    err = Console(stderr=True)
    columns = (TextColumn("items"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        bar = progress.add_task("", total=total)

        def seen(n: int) -> None:
            progress.update(bar, completed=n)

        yield seen
