"""Exports of sheets: the grid as a stored file, available by a link as long as the sheet exists."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.errors import PermanentError, RequestError
from forebay.pipelines.sheets.db import grid as grids
from forebay.pipelines.sheets.grid_files import GridFile, piped
from forebay.services.spreadsheets import MEDIA_TYPES
from forebay.types import Done

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.pipelines.sheets.db.grid import Sink

Status = Literal["PENDING", "PROCESSING", "DONE", "ERROR", "NOT_FOUND", "SKIPPED"]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ExportRequest(BaseModel):
    """The grid, format and rows of an export."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    job_id: int
    name: str
    format: Literal["csv", "xlsx", "jsonl"]
    statuses: list[Status] | None = None
    raw: bool = False  # do not escape formulas in CSV
    show: list[Literal["read", "warnings"]] = []  # additional groups of columns
    first: Number = 1
    last: Number | None = None
    ranges: list[tuple[Number, Number]] | None = None  # instead of `first` and `last`: several, in order

    @property
    def parts(self) -> Sequence[tuple[int, int | None]]:
        return self.ranges or [(self.first, self.last)]


class Written(BaseModel):
    """The file, and the numbers of rows and of truncated cells."""

    file_id: int
    rows: int
    bytes: int
    cut: int


sheet_exports = Pipeline(
    "sheet_exports", ExportRequest, internal=True, title="Exports of sheets", noun="export", needs_database=True
)


@sheet_exports.step(timeout=6 * 3600, concurrency=(1, 2))
async def write(ctx: Context, export: ExportRequest) -> Done[Written]:
    """Store a snapshot of the grid as a file."""
    pool, blobs = await ctx.get(resources.database), await ctx.get(resources.blobs)
    part = grids.GridSelection(export.statuses, export.parts, export.show)
    made: list[GridFile] = []

    async def fill(sink: Sink) -> None:
        async with pool.acquire() as conn, grids.reading(conn, export.job_id, part) as grid:
            if grid.owner_id != ctx.owner_id:  # the same reason: ids of others are not told apart
                raise PermanentError(f"the sheet was deleted: there is no job {export.job_id}")
            file = GridFile(grid, export.format, raw=export.raw)
            made.append(file)
            await file.write(sink, partial(_tell, ctx, export, grid.total))

    try:
        async with piped(fill) as pieces:
            stored = await blobs.put(
                pieces, owner_id=ctx.owner_id, name=_name(export), media_type=MEDIA_TYPES[export.format]
            )
    except RequestError as error:
        raise PermanentError(f"the sheet was deleted: {error.reason}") from error
    written = Written(file_id=stored.file_id, rows=made[0].rows, bytes=stored.size, cut=made[0].cut)
    return Done(written, [stored.write(), grids.write_export(ctx.job_id, stored.file_id, written.rows)])


def _tell(ctx: Context, export: ExportRequest, total: int, rows: int, upto: int) -> None:
    (first, _), (_, end) = export.parts[0], export.parts[-1]
    span = max((total if end is None else min(end, total)) - first + 1, 1)
    ctx.progress((upto - first + 1) / span, f"{rows} rows")


def _name(export: ExportRequest) -> str:
    return f"{PurePath(export.name).stem or 'sheet'}.{export.format}"
