"""The pipelines of sheets.

sheets         normalize → look_up
sheet_images   examine → normalize → look_up
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Annotated, Any
from weakref import WeakValueDictionary

from pydantic import BaseModel, ConfigDict, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import resource
from forebay.engine.declare.retry import Retry
from forebay.errors import DataError
from forebay.pipelines.image_tools import INSPECT_IMAGE, READ_IMAGE_TEXT
from forebay.pipelines.sheets import lookup
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.lookup import Match
from forebay.pipelines.sheets.reading import MAX_INPUT_BYTES
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.workbook_reading import FORMULA_WITHOUT_RESULT
from forebay.services.products import Columns, Normalized
from forebay.services.products import normalize as normalized
from forebay.services.products.normalizing import FieldProblem, identity
from forebay.services.products.pictures import fields_in
from forebay.services.spreadsheets.xlsx_rows import NO_RESULT
from forebay.types import ErrorClass, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Pool
    from forebay.engine.declare.resources import Resources
    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.settings import Settings

_KNOWN = 256  # cached sheets
_ASKING = (32, 100)  # concurrent rows; the gate of a provider limits its queries


class SheetRow(BaseModel):
    """A row of a file, unchanged."""

    line: Annotated[int, Field(ge=0)] = 0
    row: dict[str, Any] = {}
    kinds: str = ""  # a letter for the type of each cell of a workbook, see `xlsx_rows`
    excerpt: str | None = None  # of a row that could not be read


class ImageRef(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    name: str
    sha256: str
    file_id: Annotated[str, Field(alias="fileId")]
    size: int


class SheetImage(SheetRow):
    """An image of a file."""

    image: ImageRef | None = None


class Examined(BaseModel):
    """The size of an image, and the text in it."""

    sha256: str
    width: int
    height: int
    blurhash: str
    text: str


sheets = Pipeline("sheets", SheetRow, max_input_bytes=MAX_INPUT_BYTES, noun="row", needs_database=True)
sheet_images = Pipeline(
    "sheet_images",
    SheetImage,
    max_input_bytes=MAX_INPUT_BYTES,
    internal=True,
    title="Sheets of pictures",
    noun="picture",
    needs_database=True,
)


# The sheet of a row.


class SheetCache:
    """Caches the sheets of rows; reads one again when it may have changed."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: OrderedDict[int, Sheet] = OrderedDict()
        self._reading: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()  # by job

    async def of(self, ctx: Context) -> Sheet:
        """The sheet of a job, as of when this attempt was claimed, or later.

        Raises: DataError when the job has none.
        """
        known = self._fresh(ctx)
        if known is None:
            lock = self._reading.setdefault(ctx.job_id, asyncio.Lock())
            async with lock:  # rows that were claimed together share one read
                known = self._fresh(ctx) or await self._read(ctx.job_id)
        return known

    def _fresh(self, ctx: Context) -> Sheet | None:
        known = self._known.get(ctx.job_id)
        # A fencing token begins with the time of the claim.
        return known if known is not None and known.now_ms > ctx.token >> 20 else None

    async def _read(self, job_id: int) -> Sheet:
        sheet = await rows.read(self._pool, job_id=job_id)
        if sheet is None:
            raise DataError("the job has no sheet: upload a file, and its rows become items")
        self._known[job_id] = sheet
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return sheet


@resource
async def sheet_cache(given: Resources) -> AsyncGenerator[SheetCache]:
    yield SheetCache(given.pool)


# Rows.


@sheets.step(normalizes=True, concurrency=(1, 16))
async def normalize(ctx: Context, given: SheetRow) -> Normalized:
    """Normalize the fields of the row, and report invalid values."""
    if given.excerpt is not None:
        raise DataError(f"line {given.line} could not be read: fix it in the file and upload the file again")
    sheet = await (await ctx.get(sheet_cache)).of(ctx)
    columns = Columns.model_validate(sheet.mapping or {"fields": {}})
    read = normalized(given.row, columns)
    if NO_RESULT not in given.kinds:
        return read
    return read.model_copy(update={"problems": [*read.problems, *_without_results(given, sheet, columns)]})


def _without_results(given: SheetRow, sheet: Sheet, columns: Columns) -> list[FieldProblem]:
    missing = {name for name, kind in zip(sheet.columns or (), given.kinds, strict=False) if kind == NO_RESULT}
    return [
        FieldProblem(field=field, kind="refused", reason=FORMULA_WITHOUT_RESULT, column=column)
        for field, column in columns.fields.items()
        if column in missing
    ]


@sheets.step(after=normalize, timeout=300, concurrency=_ASKING)
async def look_up(ctx: Context, given: SheetRow, known: Normalized) -> Match | NotFound:
    """Find the best match for the row."""
    return await _look_up(ctx, known)


async def _look_up(ctx: Context, known: Normalized) -> Match | NotFound:
    sheet = await (await ctx.get(sheet_cache)).of(ctx)
    return await lookup.look_up(
        ctx,
        known.fields,
        attempts=(await ctx.get(resources.settings)).of(SheetsSettings).max_attempts_not_found,
        priority=sheet.providers or (),
        rotation=sheet.rotation,
    )


# Images.


@sheet_images.step(timeout=240, concurrency=(1, 2))
async def examine(ctx: Context, given: SheetImage) -> Examined:
    """Measure the image and read the text in it."""
    if given.image is None:
        raise DataError(f"image {given.line} could not be read: fix it in the archive and upload the archive again")
    async with (await ctx.get(resources.blobs)).local(given.image.sha256) as path:
        facts = await ctx.call(INSPECT_IMAGE, path)
        text = (await ctx.call(READ_IMAGE_TEXT, path)).text  # if OCR is not installed, the step is parked
    return Examined(
        sha256=given.image.sha256, width=facts.width, height=facts.height, blurhash=facts.blurhash, text=text
    )


@sheet_images.step(name="normalize", after=examine, normalizes=True, concurrency=(1, 16))
async def normalize_image(ctx: Context, given: SheetImage, seen: Examined) -> Normalized:
    """Normalize the fields found in the text of the image, or else in its name."""
    name = given.image.name if given.image else ""
    return identity(fields_in(seen.text, name))


@sheet_images.step(name="look_up", after=normalize_image, timeout=300, concurrency=_ASKING)
async def look_up_image(ctx: Context, given: SheetImage, known: Normalized) -> Match | NotFound:
    """Find the best match for the image."""
    return await _look_up(ctx, known)


# Settings.


@sheets.tuning
def _tune_sheets(settings: Settings) -> None:
    look_up.retry = _retry(settings.of(SheetsSettings))


@sheet_images.tuning
def _tune_images(settings: Settings) -> None:
    look_up_image.retry = _retry(settings.of(SheetsSettings))


def _retry(settings: SheetsSettings) -> Retry:
    """Rows without a match are soon looked up with other strategies; failures back off exponentially."""
    other_ways = Retry(
        attempts=settings.max_attempts_error,
        base=settings.not_found_wait_s,
        cap=settings.not_found_wait_s,
        not_found=settings.max_attempts_not_found,
    )
    return Retry(
        attempts=settings.max_attempts_error,
        base=2.0,
        not_found=settings.max_attempts_not_found,
        on={ErrorClass.NOT_FOUND: other_ways},
    )
