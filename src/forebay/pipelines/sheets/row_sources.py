"""Where the rows of a file come from: tables and pictures, read by a process with limits of its own."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from pydantic_core import to_json

from forebay import resources
from forebay.engine.declare.limited import OutputFile, limited
from forebay.engine.submit.job_stream import SourceRows
from forebay.errors import DataError, StepError, TransientError
from forebay.pipelines.sheets import reading
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.files import broken_row
from forebay.pipelines.sheets.reading import Looked, ReadBatch, Unpacked
from forebay.pipelines.sheets.workbook_reading import WrittenOut, write_out
from forebay.services.spreadsheets import XlsxLayout
from forebay.services.spreadsheets.byte_budget import ByteBudget
from forebay.services.spreadsheets.reading import Layout
from forebay.storage.spool import make_private

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator

    from forebay.engine.declare.context import Context
    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.pipelines.sheets.reading import SheetOptions
    from forebay.pipelines.sheets.settings import SheetsSettings
    from forebay.services.spreadsheets import ArchivePicture, CsvLayout, Cursor
    from forebay.storage import Blobs

P = ParamSpec("P")
R = TypeVar("R")

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


class ReadingProcess:
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


@asynccontextmanager
async def open_rows(
    child: ReadingProcess, path: Path, looked: Looked, options: SheetOptions, blobs: Blobs, sheet: Sheet, begin: int
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


async def _rows(child: ReadingProcess, path: Path, layout: CsvLayout, key: list[str]) -> AsyncGenerator[SourceRows]:
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
    child: ReadingProcess, path: Path, listed: list[ArchivePicture], blobs: Blobs, sheet: Sheet
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
        return broken_row(number, shown, f"{shown[:200]} {unpacked.fault}")
    name, media_type = Path(shown).name or "picture", unpacked.media_type
    stored = await blobs.put(unpacked.data, owner_id=sheet.owner_id, name=name, media_type=media_type)
    about = {"name": shown, "size": stored.size, "sha256": stored.sha256, "fileId": str(stored.file_id)}
    write = rows.write_image(sheet.id, stored.file_id, stored.sha256, stored.name, stored.media_type)
    return SourceRows([to_json({"line": number, "row": {"Name": shown}, "image": about})], writes={0: write})
