"""Sheets: rows of a file, made comparable, looked up, and shown as a grid.

sheets         normalize → look_up
sheet_images   examine → normalize → look_up
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.limited import limited
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.resources import resource
from forebay.engine.declare.retry import Retry
from forebay.errors import DataError
from forebay.pipelines.sheets import lookup
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.lookup import Match
from forebay.pipelines.sheets.reading import MAX_INPUT_BYTES
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.workbook_reading import FORMULA_WITHOUT_RESULT
from forebay.services import images as pictures
from forebay.services import ocr as reader
from forebay.services.products import Columns, Normalized
from forebay.services.products import normalize as normalized
from forebay.services.products.normalizing import Problem, identity
from forebay.services.products.pictures import fields_in
from forebay.services.spreadsheets.xlsx_rows import NO_RESULT
from forebay.types import ErrorClass, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Pool
    from forebay.engine.declare.resources import Resources
    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.settings import Settings

_KNOWN = 256  # sheets that are remembered
_ASKING = (32, 100)  # rows at a time: how many questions a provider gets of them is found out by its desk

INSPECT = limited(pictures.inspect, memory_mb=512, timeout=30, needs=pictures.PACKAGES)
READ_TEXT = limited(reader.read_text, memory_mb=1536, timeout=120, needs=reader.NEEDS)


class SheetRow(BaseModel):
    """One row of a file, as it stands there."""

    line: Annotated[int, Field(ge=0)] = 0
    row: dict[str, Any] = {}
    kinds: str = ""  # a letter for what each cell of a workbook is, as `xlsx_rows` has them
    excerpt: str | None = None  # of a row that could not be read


class Image(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    name: str
    sha256: str
    file_id: Annotated[str, Field(alias="fileId")]
    size: int


class SheetImage(SheetRow):
    """One picture of a file."""

    image: Image | None = None


class Examined(BaseModel):
    """What a picture shows."""

    sha256: str
    width: int
    height: int
    blurhash: str
    text: str


sheets = Pipeline("sheets", SheetRow, max_input_bytes=MAX_INPUT_BYTES)
sheet_images = Pipeline("sheet_images", SheetImage, max_input_bytes=MAX_INPUT_BYTES, internal=True)


# What the steps know of the sheet.


class SheetCache:
    """The sheets that rows belong to: asked for again when one may have been changed since."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: OrderedDict[int, Sheet] = OrderedDict()

    async def of(self, ctx: Context) -> Sheet:
        """The sheet of a job, as it was when this attempt was claimed, or later.

        Raises: DataError when the job has none.
        """
        known = self._known.get(ctx.job_id)
        if known is None or known.now_ms <= ctx.token >> 20:  # a token begins with the time of its claim
            known = await rows.read(self._pool, job_id=ctx.job_id)
            if known is None:
                raise DataError("the job is no sheet's: upload a file, and its rows become items")
            self._known[ctx.job_id] = known
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return known


@resource
async def book(given: Resources) -> AsyncGenerator[SheetCache]:
    yield SheetCache(given.pool)


# Rows.


@sheets.step(normalizes=True, concurrency=(1, 16))
async def normalize(ctx: Context, given: SheetRow) -> Normalized:
    """The canonical fields of the row, and what is wrong with its values."""
    if given.excerpt is not None:
        raise DataError(f"line {given.line} could not be read: fix it in the file, and upload that again")
    sheet = await (await ctx.get(book)).of(ctx)
    columns = Columns.model_validate(sheet.mapping or {"fields": {}})
    read = normalized(given.row, columns)
    if NO_RESULT not in given.kinds:
        return read
    return read.model_copy(update={"problems": [*read.problems, *_without_results(given, sheet, columns)]})


def _without_results(given: SheetRow, sheet: Sheet, columns: Columns) -> list[Problem]:
    missing = {name for name, kind in zip(sheet.columns or (), given.kinds, strict=False) if kind == NO_RESULT}
    return [
        Problem(field=field, kind="refused", reason=FORMULA_WITHOUT_RESULT, column=column)
        for field, column in columns.fields.items()
        if column in missing
    ]


@sheets.step(after=normalize, timeout=300, concurrency=_ASKING)
async def look_up(ctx: Context, given: SheetRow, known: Normalized) -> Match | NotFound:
    """What the providers have that fits the row best."""
    return await _look_up(ctx, known)


async def _look_up(ctx: Context, known: Normalized) -> Match | NotFound:
    sheet = await (await ctx.get(book)).of(ctx)
    return await lookup.look_up(
        ctx,
        known.fields,
        attempts=(await ctx.get(resources.settings)).of(SheetsSettings).max_attempts_not_found,
        priority=sheet.providers or (),
        turn=sheet.turn,
    )


# Pictures.


@sheet_images.step(timeout=240, concurrency=(1, 2))
async def examine(ctx: Context, given: SheetImage) -> Examined:
    """Measures the picture, and reads what is written in it."""
    if given.image is None:
        raise DataError(f"picture {given.line} could not be read: fix it in the archive, and upload that again")
    async with (await ctx.get(resources.blobs)).local(given.image.sha256) as path:
        facts = await ctx.call(INSPECT, path)
        text = (await ctx.call(READ_TEXT, path)).text  # where that is not installed, the pictures wait until it is
    return Examined(
        sha256=given.image.sha256, width=facts.width, height=facts.height, blurhash=facts.blurhash, text=text
    )


@sheet_images.step(name="normalize", after=examine, normalizes=True, concurrency=(1, 16))
async def normalize_image(ctx: Context, given: SheetImage, seen: Examined) -> Normalized:
    """The canonical fields, as far as the text in the picture, or else its name, has them."""
    name = given.image.name if given.image else ""
    return identity(fields_in(seen.text, name))


@sheet_images.step(name="look_up", after=normalize_image, timeout=300, concurrency=_ASKING)
async def look_up_image(ctx: Context, given: SheetImage, known: Normalized) -> Match | NotFound:
    """What the providers have that fits the picture best."""
    return await _look_up(ctx, known)


# Settings.


@sheets.tuning
def _tune_sheets(settings: Settings) -> None:
    look_up.retry = _retry(settings.of(SheetsSettings))


@sheet_images.tuning
def _tune_images(settings: Settings) -> None:
    look_up_image.retry = _retry(settings.of(SheetsSettings))


def _retry(settings: SheetsSettings) -> Retry:
    """What was not found is looked for again in other ways, soon; failures wait longer from time to time."""
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
