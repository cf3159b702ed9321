"""The grid of a sheet and its exports."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field

from forebay.api import idempotency, paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, FileAccessDep, JobId, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import FromJson, Id, Model, Next, State, Status
from forebay.api.number_ranges import PATTERN, read_ranges
from forebay.api.problems import Problem
from forebay.api.routes.files import link_to
from forebay.api.routes.items import Statuses, UserId, chosen
from forebay.api.routes.jobs import find_job, whose
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.sheets.db import grid as grids
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.storage import db as files
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    import asyncpg

    from forebay.api.quota import Quotas
    from forebay.db.pool import Connection

router = APIRouter(prefix="/api", tags=["sheets"], route_class=StrictRoute)

log = get_logger("api")

Number = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
Show = Annotated[
    str | None,
    Query(
        description="additional groups of columns, comma-separated: read (the normalized values), "
        "warnings (values that were refused or corrected)",
        max_length=100,
    ),
]


class GridRow(Model):
    id: Id
    status: Status
    cells: list[str | None]


class GridColumn(Model):
    """A column of a grid."""

    key: str = Field(description="does not depend on the title: `own:` and the name in the file, `found:price`, `line`")
    title: str
    kind: Literal["own", "read", "found", "meta"] = Field(
        description="own: of the file; read: its normalized value; found: of the match; meta: about the row"
    )
    type: Literal["text", "number", "link", "image", "status", "score"]


class GridPage(Model):
    """Rows of cells, as in exports."""

    columns: list[str]
    column_details: list[GridColumn] = Field(description="in the same order as `columns`")
    rows: list[GridRow]
    total: int = Field(description="rows of the grid; they have the numbers 1 to `total`, without gaps")
    searched_to: int | None = Field(
        description="with `q`: the number of the last row that was searched; with `before`, of the first"
    )
    next: Next
    previous: int | None = Field(description="with `before`: the `before` of the page before; null: there is none")


class ExportRef(Model):
    export_id: Id
    state: State


class Export(Model):
    """An export of a grid, finished or not."""

    export_id: Id
    job_id: Id
    format: Literal["csv", "xlsx", "jsonl"]
    options: FromJson
    state: State | None
    progress: float | None
    rows: int | None
    bytes: int | None
    cut: int | None
    error: str | None
    created_at: datetime
    written_at: datetime | None
    file_id: str | None


class LinkedExport(Export):
    url: str | None = None
    expires_at: datetime | None = None


class ExportPage(Model):
    exports: list[Export]
    next: str | None


@router.get("/jobs/{job_id}/grid")
async def get_grid(
    job_id: JobId,
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    statuses: Statuses = None,
    show: Show = None,
    after: After = None,
    first: Annotated[Number, Query(alias="from", description="number of the first row, instead of `after`")] = None,
    before: Annotated[
        Number, Query(description="the page ends before the row of this number: for reading backward")
    ] = None,
    q: Annotated[str | None, Query(max_length=200, description="only rows with this text in a cell")] = None,
) -> GridPage:
    """The rows of a sheet with their matches, in the order of the file: the same cells as in exports.

    Rows have the numbers 1 to `total` without gaps, so that `from` reaches any of them; of rows with the same key only
    the first has a number. With `q`, a request searches a limited number of rows: `searchedTo` says how far, and `next`
    continues. With `before`, the page has the nearest rows before that number, and `previous` continues. A page may be
    short while there is a `next` or a `previous`."""
    if first is not None and after is not None:
        raise Problem(422, "cannot be combined with `after`", field="query.from")
    if before is not None and (first is not None or after is not None):
        raise Problem(422, "cannot be combined with `after` or `from`", field="query.before")
    if q is not None and "\0" in q:
        raise Problem(422, "must not contain a NUL character", field="query.q")
    start = paging.decode(after, paging.small)[0] if after is not None else (first or 1) - 1
    groups = _groups(show)
    where = grids.GridFilter(chosen(statuses), q or None)
    async with pools.of(who) as conn:
        page = await grids.page(conn, job_id, grids.GridPlace(start, before), where, size, groups)
    more = page.continues
    paging.tell("grid", [row["n"] for row in page.rows], more)
    return GridPage(
        columns=[column.title for column in page.columns],
        column_details=[
            GridColumn(key=column.key, title=column.title, kind=column.kind, type=column.type)
            for column in page.columns
        ],
        rows=[GridRow(id=row["n"], status=row["status"], cells=row["cells"]) for row in page.rows],
        total=page.total,
        searched_to=page.searched_to,
        next=None if more is None or before is not None else paging.encode(more),
        previous=None if before is None else more,
    )


def _groups(show: str | None) -> list[str]:
    groups = [group.strip() for group in show.split(",")] if show else []
    if wrong := [group for group in groups if group not in grids.GROUPS]:
        what = f"there is no group of columns {wrong[0][:40]!r}; there are {', '.join(grids.GROUPS)}"
        raise Problem(422, what, field="query.show")
    return groups


@router.post("/jobs/{job_id}/export", status_code=202, openapi_extra={"parameters": [idempotency.ANSWERED_AGAIN]})
async def export_grid(
    job_id: JobId,
    who: Writer,
    pools: RolePoolsDep,
    settings: SettingsDep,
    request: Request,
    kind: Annotated[Literal["csv", "xlsx", "jsonl"], Query(alias="format")] = "csv",
    statuses: Statuses = None,
    show: Show = None,
    raw: Annotated[bool, Query(description="do not escape CSV cells that a spreadsheet would run as formulas")] = False,
    first: Annotated[Number, Query(alias="from", description="the first item")] = None,
    last: Annotated[Number, Query(alias="to", description="the last item")] = None,
    rows: Annotated[
        str | None,
        Query(
            description="numbers of rows instead of `from` and `to`, as `3,7-9`",
            max_length=20_000,
            pattern=PATTERN,
        ),
    ] = None,
) -> ExportRef:
    """Start an export of the grid to a file; get the export to see its progress."""
    if first is not None and last is not None and last < first:
        raise Problem(422, "must not be before `from`", field="query.to")
    if rows is not None and (first is not None or last is not None):
        raise Problem(422, "cannot be combined with `from` or `to`", field="query.rows")
    groups = _groups(show)
    given = {
        "statuses": chosen(statuses),
        "show": groups or None,
        "raw": raw or None,
        "first": first,
        "last": last,
        "ranges": None if rows is None else read_ranges(rows, "query.rows"),
    }
    options = json.dumps({name: value for name, value in given.items() if value is not None})
    idempotent = await idempotency.of(request)
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return ExportRef.model_validate(known.body)
        with submitting("sheet_exports") as now:
            export_id = await grids.export(conn, job_id, kind, options, now.trace)
            await _check_open_exports(conn, export_id, settings.of(SheetsSettings).max_open_exports)
            quota.admit()
            now.made(export_id)
        done = ExportRef(export_id=str(export_id), state=(await find_job(conn, export_id)).state)
        await idempotent.keep(conn, who, 202, done.model_dump(by_alias=True))
    log.info("export_submitted", job=export_id, of=job_id, format=kind, by=who.actor)
    return done


async def _check_open_exports(conn: Connection, export_id: int, most: int) -> None:
    """Raises: Problem 429, which takes the export back."""
    if await grids.open_exports(conn, export_id, most + 1) > most:
        raise Problem(
            429,
            f"{most} exports have not ended yet, and no more are allowed (FOREBAY_SHEETS_MAX_OPEN_EXPORTS): wait until "
            "one is written, or cancel one",
            headers={"Retry-After": "30"},
        )


@router.get("/jobs/{job_id}/exports")
async def list_exports(
    job_id: JobId, who: Reader, pools: RolePoolsDep, size: PageSize, after: After = None
) -> ExportPage:
    """The exports of a grid, newest first."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.of(who) as conn:
        await find_job(conn, job_id)
        rows, more = await grids.exports(conn, job_id, before, size)
    paging.tell("exports", [row["job_id"] for row in rows], more)
    return ExportPage(
        exports=[Export(**_export(row)) for row in rows], next=None if more is None else paging.encode(more)
    )


@router.get("/exports")
async def list_all_exports(
    who: Reader, pools: RolePoolsDep, size: PageSize, user_id: UserId = "me", after: After = None
) -> ExportPage:
    """The exports of all sheets, newest first."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with (pools.of if whose(who, user_id) is None else pools.own)(who) as conn:
        rows, more = await grids.all_exports(conn, before, size)
    paging.tell("exports", [row["job_id"] for row in rows], more)
    return ExportPage(
        exports=[Export(**_export(row)) for row in rows], next=None if more is None else paging.encode(more)
    )


async def _export_id(export_id: Annotated[str, Path(description="id of the export", pattern="^[0-9]{1,18}$")]) -> int:
    return int(export_id)


@router.get("/exports/{export_id}")
async def get_export(
    export_id: Annotated[int, Depends(_export_id)],
    who: Reader,
    pools: RolePoolsDep,
    file_access: FileAccessDep,
    settings: SettingsDep,
) -> LinkedExport:
    """The progress of an export, and once it is finished a link to the file that works without signing in until it
    expires."""
    async with pools.of(who) as conn:
        row = await grids.get_export(conn, export_id)
        if row is None:
            raise NotFoundError("export", f"there is no export {export_id}")
        file = None if row["file_id"] is None else await files.get(conn, row["file_id"])
    if file is None:
        return LinkedExport(**_export(row))
    url, expires_at = await link_to(file_access, settings, file, inline=False)
    return LinkedExport(**_export(row), url=url, expires_at=expires_at)


def _export(row: asyncpg.Record) -> dict[str, Any]:
    values = dict(row)
    is_written = values["written_at"] is not None
    shown = ("format", "options", "state", "rows", "bytes", "cut", "created_at", "written_at")
    return {name: values[name] for name in shown} | {
        "export_id": values["job_id"],
        "job_id": values["sheet_job_id"],
        "progress": 1.0 if is_written else values["fraction"],
        "error": None if is_written else values["error"],
        "file_id": None if values["file_id"] is None else str(values["file_id"]),
    }
