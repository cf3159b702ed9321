"""The intake of files: received from wherever they come, kept, and read row by row into the items of their job.

    receive → read ∥ put_away

One way for uploads, folders, S3, FTP and SFTP, and for tables and pictures. Rows are committed in batches; after a
crash the reading goes on behind the last of them.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from forebay.engine.db.adapters import adapter_for
from forebay.engine.declare.context import Context
from forebay.engine.declare.limited import OutputFile, limited
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.engine.submit.batch_size import BatchSize
from forebay.engine.submit.job_stream import JobStream, SourceRows
from forebay.errors import ConflictError, DataError, StepError, TransientError, classify_error
from forebay.pipelines import resources
from forebay.pipelines.sheets import reading
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.db.sheets import Piece
from forebay.pipelines.sheets.reading import Looked, ReadBatch, SheetOptions, Unpacked
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.sources import opened_source, version_of
from forebay.pipelines.sheets.workbook_reading import WrittenOut, write_out
from forebay.services.download.receiving import receive as receive_into
from forebay.services.spreadsheets import XlsxLayout
from forebay.services.spreadsheets.byte_budget import ByteBudget
from forebay.services.spreadsheets.reading import Layout
from forebay.storage.spool import make_private, spooled
from forebay.types import Done, ErrorClass, Skip

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator

    from forebay.db.pool import Connection, Pool
    from forebay.pipelines.sheets.db.sheets import Added, NewSheet, Sheet
    from forebay.services.spreadsheets import ArchivePicture, CsvLayout, Cursor
    from forebay.storage import Blobs, Store, Stored

P = ParamSpec("P")
R = TypeVar("R")

_PATIENT = Retry(attempts=5, base=2.0, cap=300.0)
_LONG = 12 * 3600.0
_CHUNK = 4096  # rows that are read at once
_CHUNK_BYTES = 2 << 20
_AHEAD = 3  # chunks that wait to be committed
_PICTURES = 16  # committed at once
_UNPACKED = 512  # pictures, and their bytes, that are unpacked at once
_UNPACKED_BYTES = 16 << 20

IN_CHILD = limited(  # one for all: a process takes a while to begin
    reading.run,
    memory_mb=768,
    timeout=3600,
    file_mb=4096,
    returns=(Looked, ReadBatch, Unpacked, Layout, WrittenOut),
    needs=("chardet", "webencodings"),
)


async def hand_in(
    conn: Connection,
    store: Store,
    owner: str,
    new: NewSheet,
    content: bytes | Path,
    *,
    key: str | None = None,
    priority: int = 0,
    delay: float | None = None,
) -> Added:
    """Keep a file of this machine, and submit its reading; one whose key is known, and whole, is left as it is."""
    added = await rows.hand_in(conn, owner, new, key=key, priority=priority)
    if added.is_whole:
        return added
    name = await rows.begin_piece(conn, added.id, 0)
    if name is None:
        raise ConflictError("key", "the upload was given up")
    async with spooled(content, store.spool) as spool:
        await store.put(piece_key(added.id, name), spool, "application/octet-stream")
        piece = Piece(0, spool.size, name)
    async with conn.transaction():
        if not await rows.end_piece(conn, added.id, piece):
            raise ConflictError("key", "another process hands in the same file")
        await rows.begin_intake(conn, added.id, delay=delay)
    return added


class Intake(BaseModel):
    """A file that is to be read."""

    model_config = ConfigDict(populate_by_name=True)

    sheet_id: Annotated[int, Field(alias="sheetId", ge=1)]


class Received(BaseModel):
    """The content, and which it was at its source."""

    sha256: str
    size: int
    version: str | None = None


class ReadSheet(BaseModel):
    """How many rows there were, and how many of them became items: of rows with the same key only the first does."""

    rows: int
    items: int


sheet_intake = Pipeline("sheet_intake", Intake, internal=True)


# Two files at least are received, and read, at a time: what takes long must not keep all others waiting.
@sheet_intake.step(timeout=_LONG, concurrency=(2, 4), retry=_PATIENT, max_expiries=1000)
async def receive(ctx: Context, given: Intake) -> Done[Received] | Skip:
    """Fetches the file, or puts its pieces together, and keeps it."""
    database, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    sheet = await rows.read(database, sheet_id=given.sheet_id)
    if sheet is None:
        return Skip("the sheet was deleted", item=True)
    if sheet.file_id is not None and (known := await rows.received(database, sheet.file_id)) is not None:
        return Done(Received(sha256=known[0], size=known[1]))  # it is read once more
    ctx.progress(note="receiving the file")
    try:
        stored, version = await (_uploaded if sheet.source is None else _fetched)(ctx, sheet, blobs)
    except StepError as error:
        if is_last(ctx, receive.retry, error):
            await _end(database, sheet, str(error))
        raise error.writing(rows.write_trouble(sheet.id, str(error))) from error
    received = rows.write_received(sheet.id, stored.file_id, stored.size)
    made = Received(sha256=stored.sha256, size=stored.size, version=version)
    return Done(made, [stored.write(), received])


def is_last(ctx: Context, retry: Retry, error: StepError) -> bool:
    """Whether the step is not tried again after this."""
    kind = classify_error(error)
    if kind in (ErrorClass.CONFIG, ErrorClass.RESOURCE, ErrorClass.THROTTLED):
        return False
    return retry.delay_after(kind, ctx.attempt) is None


async def _end(database: Pool, sheet: Sheet, reason: str) -> None:
    """The rows that never come are told as one that is in error, so that their job ends, too."""
    stream = JobStream(adapter_for(database))
    await stream.reopen(sheet.job_id)
    if not stream.is_sealed:
        with suppress(ConflictError):  # it was cancelled meanwhile
            await stream.send(_unreadable(sheet, reason), BatchSize(), seal=True)


async def _uploaded(ctx: Context, sheet: Sheet, blobs: Blobs) -> tuple[Stored, None]:
    """Puts the pieces of an upload together.

    Raises: DataError when the file did not come whole.
    """
    pieces = await rows.pieces(await ctx.get(resources.database), sheet.id)
    if sheet.size is not None and sum(piece.size for piece in pieces) != sheet.size:
        raise DataError(f"{sheet.name} did not come whole: send it again")

    async def chunks() -> AsyncGenerator[bytes]:
        for piece in pieces:
            async for chunk in await blobs.store.open(piece_key(sheet.id, piece.name)):
                yield chunk

    async with aclosing(chunks()) as content:
        stored = await blobs.put(
            _watched(ctx, content, sheet.size),
            owner_id=sheet.owner_id,
            name=_file_name(sheet),
            max_bytes=(await ctx.get(resources.settings)).api_max_upload_bytes,
        )
    return stored, None


async def _fetched(ctx: Context, sheet: Sheet, blobs: Blobs) -> tuple[Stored, str]:
    """Fetches a file from its source, and continues where an earlier attempt was cut off; which version it is.

    Raises: DataError when the file has changed, or is too large.
    """
    path, most = sheet.path or "", (await ctx.get(resources.settings)).api_max_upload_bytes
    async with opened_source(ctx, sheet.source or "") as source, resources.partial_file(ctx) as file:
        version = await version_of(source, sheet)
        await receive_into(
            file,
            version,
            partial(source.read, path, version),
            name=sheet.name,
            max_bytes=most,
            total=sheet.size,
            report=resources.reporting(ctx, "receiving the file"),
        )
        stored = await blobs.adopt(file.path, owner_id=sheet.owner_id, name=_file_name(sheet), sha256=file.sha256)
        file.discard()
    return stored, version


def _file_name(sheet: Sheet) -> str:
    return Path(sheet.name).name or "sheet"


def piece_key(sheet_id: int, name: str) -> str:
    """Where a piece of an upload is in the store."""
    return f"uploads/{sheet_id}/{name}"


async def _watched(ctx: Context, content: AsyncIterator[bytes], size: int | None) -> AsyncIterator[bytes]:
    seen = 0
    async for chunk in content:
        seen += len(chunk)
        ctx.progress(note="receiving the file", bytes_done=seen, bytes_total=size)
        yield chunk


@sheet_intake.step(after=receive, optional=True, timeout=600, concurrency=(1, 4), retry=_PATIENT)
async def put_away(ctx: Context, given: Intake, received: Received) -> bool | Skip:
    """Deletes or moves the file at its source, as that is declared; false when it has changed since, and stays."""
    sheet = await rows.read(await ctx.get(resources.database), sheet_id=given.sheet_id)
    if sheet is None or sheet.source is None or received.version is None:
        return Skip("it was uploaded, or received before")
    async with opened_source(ctx, sheet.source) as source:
        return await source.done(sheet.path or "", received.version)


@sheet_intake.step(after=receive, timeout=_LONG, concurrency=(2, 4), retry=_PATIENT, max_expiries=1000)
async def read(ctx: Context, given: Intake, received: Received) -> Done[ReadSheet] | Skip:
    """Reads the rows into the items of the sheet's job."""
    database, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    sheet = await rows.read(database, sheet_id=given.sheet_id)
    if sheet is None:
        return Skip("the sheet was deleted", item=True)
    for name in await rows.drop_pieces(database, sheet.id):
        await blobs.store.delete(piece_key(sheet.id, name))
    stream = JobStream(adapter_for(database))
    await stream.reopen(sheet.job_id)
    problem = None
    if not stream.is_sealed:
        try:
            problem = await _read_into(ctx, sheet, stream, blobs, received)
        except ConflictError as error:
            if await rows.is_cancelled(database, sheet.job_id):
                return Skip("its job was cancelled")
            raise TransientError(f"somebody else reads the same file: {error.reason}") from error
        except StepError as error:
            if is_last(ctx, read.retry, error):
                await _end(database, sheet, str(error))
            raise error.writing(rows.write_trouble(sheet.id, str(error))) from error
    return Done(ReadSheet(rows=stream.loaded, items=stream.total), [rows.write_read(sheet.id, problem)])


async def _read_into(ctx: Context, sheet: Sheet, stream: JobStream, blobs: Blobs, received: Received) -> str | None:
    """Reads the file; gives back why it cannot be read, which its job tells, too."""
    sha256, size = received.sha256, received.size
    options = SheetOptions.model_validate(sheet.options)
    async with blobs.local(sha256) as path:
        try:
            ctx.progress(note="looking at the file")
            child = _Child(ctx, size, (await ctx.get(resources.settings)).of(SheetsSettings))
            looked = await child.call(reading.look, path, options)
            await _note_layout(ctx, sheet, options, looked)
            begin = 0 if looked.layout is not None else stream.loaded  # a picture is a row: known ones are not unpacked
            async with _source(child, path, looked, options, blobs, sheet, begin) as source:
                await _load(ctx, stream, source, child.settings, begin)
            await stream.seal()
        except DataError as error:
            await stream.send(_unreadable(sheet, str(error)), BatchSize(), seal=True)
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


def _unreadable(sheet: Sheet, reason: str) -> SourceRows:
    """What a file that cannot be read leaves: an item that says why, as the sheet does."""
    told = _broken(0, sheet.name, reason)
    told.writes[0] = rows.write_read(sheet.id, reason)
    return told


def _broken(line: int, name: str, reason: str) -> SourceRows:
    return SourceRows([to_json({"line": line, "excerpt": name[:200]})], faults={0: reason})


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


class _Child:
    """The process that reads one file. It has seconds by the size of the file: what takes longer holds up others."""

    def __init__(self, ctx: Context, size: int, settings: SheetsSettings) -> None:
        self.ctx = ctx
        self.settings = settings
        self.size = size
        self._allowed = settings.read_s + settings.read_s_per_mb * size / 1e6
        self._left = self._allowed

    async def call(self, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What one of the functions for files returns.

        Raises: what it raises; DataError when the file takes too long to read twice.
        """
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(self._left):
                answer: R = await self.ctx.call(IN_CHILD, fn.__name__, args, kwargs)
        except TimeoutError:
            raise self._too_long() from None
        finally:
            self._left = max(0.0, self._left - (clock() - began))
        return answer

    def _too_long(self) -> StepError:
        reason = (
            f"reading the file took longer than {self._allowed:.0f} s, which is the most for a file of {self.size} "
            "bytes: split it, or raise FOREBAY_SHEETS_READ_S or FOREBAY_SHEETS_READ_S_PER_MB"
        )
        # Once may be bad luck, as on a machine that is busy.
        return TransientError(reason) if self.ctx.attempt < 2 else DataError(reason)


# Where rows come from.


@asynccontextmanager
async def _source(
    child: _Child, path: Path, looked: Looked, options: SheetOptions, blobs: Blobs, sheet: Sheet, begin: int
) -> AsyncGenerator[AsyncIterator[SourceRows]]:
    if looked.layout is None:
        async with aclosing(_pictures(child, path, looked.pictures[begin:], blobs, sheet)) as source:
            yield source
        return
    make_private(blobs.store.spool)
    with NamedTemporaryFile(prefix="put-", dir=blobs.store.spool) as scratch:
        layout = looked.layout
        if isinstance(layout, XlsxLayout):
            child.ctx.progress(note="unpacking the workbook")
            most = child.settings.max_read_bytes
            layout = await child.call(write_out, path, layout, OutputFile(scratch.name), most)
            await rows.write_warnings(await child.ctx.get(resources.database), sheet.id, layout.warnings)
            path = Path(scratch.name)
        async with aclosing(_rows(child, path, layout, options.key)) as source:
            yield source


async def _rows(child: _Child, path: Path, layout: CsvLayout, key: list[str]) -> AsyncGenerator[SourceRows]:
    """Chunks of rows; some are read ahead while those before them are committed."""
    ahead: asyncio.Queue[ReadBatch] = asyncio.Queue(_AHEAD)
    budget = ByteBudget(child.size, child.settings.max_read_bytes)

    async def read_on() -> None:
        place: Cursor | None = None
        while True:
            batch = await child.call(reading.read_batch, path, layout, place, _CHUNK, _CHUNK_BYTES, key)
            await ahead.put(batch)
            if batch.is_last:
                return
            place = batch.next

    reader = asyncio.create_task(read_on())
    try:
        while True:
            batch = await _next(ahead, reader)
            budget.spend(sum(map(len, batch.data)))
            yield SourceRows(batch.data, batch.keys, batch.faults)
            if batch.is_last:
                return
    finally:
        reader.cancel()
        with suppress(asyncio.CancelledError, StepError):
            await reader


async def _next(ahead: asyncio.Queue[ReadBatch], reader: asyncio.Task[None]) -> ReadBatch:
    """What was read next.

    Raises: what kept it from being read.
    """
    if ahead.empty() and not reader.done():
        coming = asyncio.create_task(ahead.get())
        await asyncio.wait({coming, reader}, return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result()
        coming.cancel()
    if ahead.empty():
        await reader  # it has failed
    return ahead.get_nowait()


async def _pictures(
    child: _Child, path: Path, listed: list[ArchivePicture], blobs: Blobs, sheet: Sheet
) -> AsyncGenerator[SourceRows]:
    """Pictures, each stored as a file of its own."""
    for group in _groups(listed):
        made = SourceRows()
        unpacked = await child.call(reading.unpack_pictures, path, [picture.name for picture in group])
        for picture, one in zip(group, unpacked, strict=True):
            made.add(await _picture(picture, one, blobs, sheet))
            if len(made) == _PICTURES:
                yield made
                made = SourceRows()
        yield made


def _groups(listed: list[ArchivePicture]) -> Iterator[list[ArchivePicture]]:
    """Pictures that are unpacked at once: opening an archive takes a while, and memory is short."""
    group: list[ArchivePicture] = []
    size = 0
    for picture in listed:
        if group and (len(group) == _UNPACKED or size + picture.size > _UNPACKED_BYTES):
            yield group
            group, size = [], 0
        group.append(picture)
        size += picture.size
    if group:
        yield group


async def _picture(picture: ArchivePicture, unpacked: Unpacked, blobs: Blobs, sheet: Sheet) -> SourceRows:
    number, shown = picture.number, picture.name or sheet.name
    if unpacked.fault:
        return _broken(number, shown, f"{shown[:200]} {unpacked.fault}")
    name, media_type = Path(shown).name or "picture", unpacked.media_type
    stored = await blobs.put(unpacked.data, owner_id=sheet.owner_id, name=name, media_type=media_type)
    about = {"name": shown, "size": stored.size, "sha256": stored.sha256, "fileId": str(stored.file_id)}
    write = rows.write_image(sheet.id, stored.file_id, stored.sha256, stored.name, stored.media_type)
    return SourceRows([to_json({"line": number, "row": {"Name": shown}, "image": about})], writes={0: write})
