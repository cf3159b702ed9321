"""The intake of sheets: files are received, and read row by row into the items of their job.

    receive → read ∥ clean_up

One way for tables and pictures. Rows are committed in batches; after a crash the reading goes on behind the last of
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from forebay import resources
from forebay.engine.db.adapters import adapter_for
from forebay.engine.declare.context import Context
from forebay.engine.submit.batch_size import BatchSize
from forebay.engine.submit.job_stream import JobStream, SourceRows
from forebay.errors import ConflictError, DataError, StepError, TransientError
from forebay.intake.receiving import (
    LONG_S,
    PATIENT,
    Incoming,
    Received,
    end_job,
    is_last,
    reason_of,
    receiving_pipeline,
)
from forebay.intake.scans import scan_pipeline
from forebay.pipelines.sheets import reading
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.files import FILES, unreadable
from forebay.pipelines.sheets.reading import SheetOptions
from forebay.pipelines.sheets.row_sources import ReadingProcess, open_rows
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.types import Done, Skip

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.pipelines.sheets.reading import Looked
    from forebay.storage import Blobs

sheet_intake = receiving_pipeline(FILES)
sheet_scans = scan_pipeline(FILES)


class ReadSheet(BaseModel):
    """How many rows there were, and how many of them became items: of rows with the same key only the first does."""

    rows: int
    items: int


# As many as are received: a file that takes long must not keep all others waiting.
@sheet_intake.step(after=sheet_intake.receive, timeout=LONG_S, concurrency=(2, 4), retry=PATIENT, max_expiries=1000)
async def read(ctx: Context, given: Incoming, received: Received) -> Done[ReadSheet] | Skip:
    """Reads the rows into the items of the sheet's job."""
    database, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    sheet = await rows.read(database, sheet_id=given.reference)
    if sheet is None:
        return Skip("the sheet was deleted", item=True)
    stream = JobStream(adapter_for(database))
    await stream.reopen(sheet.job_id)
    problem = None
    if not stream.is_sealed:
        try:
            problem = await _read_into(ctx, sheet, stream, blobs, received)
        except ConflictError as error:
            if await rows.is_cancelled(database, sheet.job_id):
                return Skip("its job was cancelled")
            raise TransientError(f"another worker reads the same file: {error.reason}") from error
        except Exception as error:
            if is_last(ctx, read.retry, error):
                await end_job(database, sheet.job_id, unreadable(sheet.id, sheet.name, reason_of(error)))
            if isinstance(error, StepError):
                error.writing(rows.write_trouble(sheet.id, str(error)))
            raise
    return Done(ReadSheet(rows=stream.loaded, items=stream.total), [rows.write_read(sheet.id, problem)])


async def _read_into(ctx: Context, sheet: Sheet, stream: JobStream, blobs: Blobs, received: Received) -> str | None:
    """Read the file; returns why it cannot be read, which its job says, too."""
    sha256, size = received.sha256, received.size
    options = SheetOptions.model_validate(sheet.options)
    async with blobs.local(sha256) as path:
        try:
            ctx.progress(note="looking at the file")
            child = ReadingProcess(ctx, size, (await ctx.get(resources.settings)).of(SheetsSettings))
            looked = await child.call(reading.look, path, options)
            await _note_layout(ctx, sheet, options, looked)
            begin = 0 if looked.layout is not None else stream.loaded  # a picture is a row: known ones are not unpacked
            async with open_rows(child, path, looked, options, blobs, sheet, begin) as source:
                await _load(ctx, stream, source, child.settings, begin)
            await stream.seal()
        except DataError as error:
            await stream.send(unreadable(sheet.id, sheet.name, str(error)), BatchSize(), seal=True)
            return str(error)
    return None


async def _note_layout(ctx: Context, sheet: Sheet, options: SheetOptions, looked: Looked) -> None:
    database = await ctx.get(resources.database)
    if looked.layout is None:
        if options.catalogue is not None:
            raise DataError("a catalogue is a table: these are pictures")
        await rows.change_pipeline(database, sheet.job_id, "sheet_images")
    elif options.catalogue is not None:
        await rows.change_pipeline(database, sheet.job_id, "catalogue_rows")
    layout: Any = looked.layout.model_dump(mode="json") if looked.layout is not None else None
    chosen = looked.mapping.model_dump(mode="json")
    suggested = [each.model_dump(mode="json") for each in looked.suggestions]
    await rows.write_layout(database, sheet.id, looked.kind, layout, looked.columns, (chosen, suggested))


async def _load(
    ctx: Context, stream: JobStream, source: AsyncIterator[SourceRows], settings: SheetsSettings, begin: int
) -> None:
    """Commits what the source gives from that row on, but for what was committed before."""
    size, pending, skipped = batch_size(settings), SourceRows(), begin
    behind = stream.loaded
    async for chunk in source:
        known = min(len(chunk), behind - skipped)
        skipped += known
        chunk.drop(known)
        pending.add(chunk)
        while len(pending) >= size.rows:
            pending.drop(await stream.send(pending, size))
            ctx.progress(note=f"{stream.loaded} rows read, {size}")
    while pending.data:
        pending.drop(await stream.send(pending, size))


def batch_size(settings: SheetsSettings) -> BatchSize:
    """How many rows are committed at once, within the bounds of the settings."""
    return BatchSize(
        least=settings.ingest_min_rows,
        most=max(settings.ingest_min_rows, settings.ingest_max_rows),
        most_bytes=settings.ingest_max_batch_bytes,
        quick=settings.db_p50_ms / 1000,
        slow=max(settings.db_p95_ms, settings.db_p50_ms) / 1000,
    )
