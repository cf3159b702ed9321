"""Sheets: the facts about files of rows, and the mapping of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, JobId, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import Reference
from forebay.api.problems import Problem
from forebay.api.routes.jobs import whose
from forebay.api.strict_query import StrictRoute
from forebay.errors import InvalidField, NotFoundError
from forebay.log import get_logger
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.known_providers import check_providers
from forebay.pipelines.sheets.models import ChangedSheet, SheetInfo, SheetPage, listed_sheet, sheet_info
from forebay.services.products import FIELDS, Columns, choose_columns

if TYPE_CHECKING:
    from typing import Any

    from forebay.api.auth.authentication import Principal
    from forebay.db.pool import Connection
    from forebay.pipelines.sheets.db.sheets import Sheet

router = APIRouter(prefix="/api/sheets", tags=["sheets"], route_class=StrictRoute)

log = get_logger("api")


@router.get("")
async def list_sheets(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    after: After = None,
    user_id: Annotated[str, Query(alias="userId", description="`me`; administrators: `all`", max_length=200)] = "me",
) -> SheetPage:
    """List sheets, newest first."""
    before = None if after is None else paging.decode(after, paging.integer)[0]
    async with pools.of(who) as conn:
        found = await sheets.page(conn, whose(who, user_id), before, size + 1)
    more = found[size - 1]["id"] if len(found) > size else None
    paging.tell("sheets", [row["id"] for row in found[:size]], more)
    return SheetPage(
        sheets=[listed_sheet(row) for row in found[:size]], next=None if more is None else paging.encode(more)
    )


@router.get("/{job_id}")
async def get_sheet(job_id: JobId, who: Reader, pools: RolePoolsDep) -> SheetInfo:
    """The sheet of a job: format, mapping of columns, and progress of reading."""
    async with pools.of(who) as conn:
        return sheet_info(await find_sheet(conn, job_id))


async def find_sheet(conn: Connection, job_id: int) -> Sheet:
    """Raises: NotFoundError when the caller may see no sheet of the job."""
    sheet = await sheets.get(conn, job_id=job_id)
    if sheet is None:
        raise NotFoundError("job", f"there is no sheet of job {job_id}")
    return sheet


@router.patch("/{job_id}")
async def change_sheet(
    job_id: JobId, body: ChangedSheet, who: Writer, pools: RolePoolsDep, settings: SettingsDep
) -> SheetInfo | Reference:
    """Change the mapping of columns, or the order of providers. Reprocess the job to apply it to rows already read."""
    async with pools.of(who) as conn:
        await sheets.lock(conn, (await find_sheet(conn, job_id)).id)
        await check_providers(conn, settings, body.providers)
        sheet = await find_sheet(conn, job_id)
        await sheets.change(conn, job_id, _mapping(sheet, body, who), body.providers)
        changed = await find_sheet(conn, job_id)
    log.info("sheet_changed", sheet=sheet.id, job=job_id, by=who.actor)
    return sheet_info(changed) if who.can_read else Reference(id=str(sheet.id))


def _mapping(sheet: Sheet, body: ChangedSheet, who: Principal) -> dict[str, Any] | None:
    """Raises: InvalidField; Problem 409 while the columns are not known."""
    if body.columns is None and body.decimal_mark is None and body.currency is None:
        return None
    if sheet.columns is None or sheet.kind not in ("csv", "xlsx"):
        raise Problem(409, "the columns of this file are not known", field="columns")
    if not who.can_read:  # choose_columns would list all columns
        for field, column in (body.columns or {}).items():
            if column is not None and column not in sheet.columns:
                raise InvalidField(f"columns.{field}", "names a column that the file does not have")
    now = Columns.model_validate(sheet.mapping)
    wanted: dict[str, str | None] = dict.fromkeys(FIELDS)
    wanted.update((str(field), column) for field, column in now.fields.items())
    wanted.update(body.columns or {})
    chosen = choose_columns(
        sheet.columns,
        [],
        wanted,
        mark=body.decimal_mark or now.decimal_mark,
        currency=body.currency or now.currency,
        given_as="columns",
    )
    return chosen.model_dump(mode="json")
