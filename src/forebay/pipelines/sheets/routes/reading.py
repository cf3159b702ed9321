"""How the file of a sheet is read: a look at its beginning, and reading it again with other options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request

from forebay.api import idempotency
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import FileAccessDep, JobId, RolePoolsDep
from forebay.api.problems import Problem
from forebay.api.routes.jobs import find_job
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import control
from forebay.errors import DataError, InvalidField
from forebay.intake import db as intake
from forebay.intake.db import FileTerms, NewFile
from forebay.log import get_logger
from forebay.pipelines.sheets.db import sheets
from forebay.pipelines.sheets.files import FILES
from forebay.pipelines.sheets.models import (
    FieldSuggestion,
    PreviewRow,
    ReadOptions,
    Reread,
    SheetPreview,
    SheetRef,
    UnreadableRow,
)
from forebay.pipelines.sheets.preview import READ_PREVIEW, ROWS, Preview
from forebay.pipelines.sheets.reading import SheetOptions
from forebay.pipelines.sheets.routes.sheets import find_sheet
from forebay.services.products import FIELDS
from forebay.storage import db as files
from forebay.storage.blobs import local_object
from forebay.telemetry.tracing import submitting

if TYPE_CHECKING:
    from forebay.api.quota import Quotas
    from forebay.engine.processes.limited_calls import LimitedCalls
    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.storage import Store
    from forebay.storage.db import File

router = APIRouter(prefix="/api/sheets", tags=["sheets"], route_class=StrictRoute)

log = get_logger("api")

_NOT_RECEIVED = "the file has not been received yet"


@router.get("/{job_id}/preview")
async def preview_sheet(
    job_id: JobId,
    who: Reader,
    pools: RolePoolsDep,
    file_access: FileAccessDep,
    request: Request,
    header: Annotated[bool | None, Query(description="whether the first row has the column names")] = None,
    encoding: Annotated[str | None, Query(max_length=40)] = None,
    delimiter: Annotated[str | None, Query(min_length=1, max_length=1)] = None,
    sheet: Annotated[str | None, Query(max_length=200, description="name of the worksheet")] = None,
) -> SheetPreview:
    """The first rows of the stored file, as they are read with these options; what is not given is detected."""
    given = ReadOptions(header=header, encoding=encoding, delimiter=delimiter, sheet=sheet)
    async with pools.of(who) as conn:
        about = await find_sheet(conn, job_id)
        stored = None if about.file_id is None else await files.get(conn, about.file_id)
    if stored is None:
        raise Problem(409, _NOT_RECEIVED if about.replaced_by is None else _replaced(about.replaced_by))
    calls: LimitedCalls = request.app.state.limited
    options = SheetOptions.model_validate(_options(about, given))
    return _shown(await _read(calls, file_access.store, stored, options))


async def _read(calls: LimitedCalls, store: Store, stored: File, options: SheetOptions) -> Preview:
    try:
        async with local_object(store, stored.object) as path:
            return await calls.call(READ_PREVIEW, path, options, ROWS)
    except DataError as error:
        raise Problem(422, str(error), field="file") from error


def _options(sheet: Sheet, given: ReadOptions) -> dict[str, Any]:
    """The options of the sheet with these in place of those of the upload. Columns are chosen anew: they may have other
    names."""
    providers = sheet.providers or []
    return {**sheet.options, "columns": {}, "key": [], "providers": providers, **given.model_dump(by_alias=True)}


def _again(sheet: Sheet, body: Reread) -> dict[str, Any]:
    """The options for reading the file again.

    Raises: InvalidField for a key that is none of the columns.
    """
    if body.options is not None:
        return {**_options(sheet, body.options), "key": body.key}
    for name in body.key:
        if name not in (sheet.columns or ()):
            raise InvalidField("key", f"there is no column {name!r}")
    mapping: dict[str, Any] = sheet.mapping or {}
    return {
        **sheet.options,
        "columns": dict.fromkeys(map(str, FIELDS)) | mapping.get("fields", {}) if mapping else {},
        "decimalMark": mapping.get("decimal_mark"),
        "currency": mapping.get("currency"),
        "providers": sheet.providers or [],
        "key": body.key,
    }


def _shown(found: Preview) -> SheetPreview:
    looked = found.looked
    layout: dict[str, Any] = {} if looked.layout is None else looked.layout.model_dump(mode="json")
    return SheetPreview(
        kind=looked.kind,
        encoding=layout.get("encoding"),
        delimiter=layout.get("delimiter"),
        quote=layout.get("quote"),
        tab=layout.get("sheet"),
        tabs=layout.get("sheets"),
        has_header=layout.get("has_header"),
        columns=looked.columns,
        mapping={str(field): column for field, column in looked.mapping.fields.items()},
        suggestions=[FieldSuggestion(**each.model_dump(mode="json")) for each in looked.suggestions],
        rows=[PreviewRow(line=line, cells=cells) for line, cells in found.rows],
        unreadable=[UnreadableRow(line=line, reason=reason) for line, reason in found.bad],
        is_all=found.is_all,
    )


@router.post("/{job_id}/reread", status_code=201, openapi_extra=idempotency.TAKES_KEY)
async def reread_sheet(job_id: JobId, body: Reread, who: Writer, pools: RolePoolsDep, request: Request) -> SheetRef:
    """Read the stored file again, with other options, before rows were processed. A new sheet with a job of its own
    takes the place of this one, whose job is cancelled."""
    idempotent = await idempotency.of(request)
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return SheetRef.model_validate(known.body)
        await sheets.lock(conn, (await find_sheet(conn, job_id)).id)
        sheet, job = await find_sheet(conn, job_id), await find_job(conn, job_id)
        if sheet.replaced_by is not None:
            raise Problem(409, _replaced(sheet.replaced_by))
        if sheet.file_id is None:
            raise Problem(409, _NOT_RECEIVED)
        if await sheets.rows_have_started(conn, job_id):
            raise Problem(409, "rows of this sheet have been processed: upload the file again to read it differently")
        quota.admit()
        options = _again(sheet, body)
        with submitting(FILES.name) as now:
            new, terms = NewFile(sheet.name, sheet.size, options), FileTerms(priority=job.priority, trace=now.trace)
            added = await sheets.add(conn, sheet.owner_id, new, terms)
            now.made(added.job_id)
        await sheets.replace(conn, sheet.id, added.reference)
        if job.state == "PAUSED" or options.get("paused"):
            await control.pause(conn, added.job_id, who.actor)
        if job.finished_at is None:
            await control.cancel(conn, job_id, who.actor)
        await intake.begin_receiving(conn, FILES.name, added.reference, FILES.receiving)
        made = SheetRef(job_id=str(added.job_id), sheet_id=str(added.reference))
        await idempotent.keep(conn, who, 201, made.model_dump(by_alias=True))
    log.info("sheet_reread", sheet=added.reference, job=added.job_id, of=job_id, by=who.actor)
    return made


def _replaced(job_id: int) -> str:
    return f"the file was read again: its sheet is now that of job {job_id}"
