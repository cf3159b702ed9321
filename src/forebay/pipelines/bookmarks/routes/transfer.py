"""Import and export of bookmarks as files."""

from __future__ import annotations

import asyncio
import shutil
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from starlette.datastructures import UploadFile

from forebay.api import idempotency
from forebay.api.auth.authentication import Reader, authorized
from forebay.api.deps import RolePoolsDep
from forebay.api.models import JobRef
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.api.submit import bodies
from forebay.engine.declare.limited import limited
from forebay.engine.submit.options import checked_text
from forebay.engine.submit.producer import submit_many
from forebay.errors import DataError, InvalidField
from forebay.identity import session_context
from forebay.log import get_logger
from forebay.pipelines.bookmarks import db as rows
from forebay.pipelines.bookmarks import files as bookmark_files
from forebay.pipelines.bookmarks.exports import exported
from forebay.pipelines.bookmarks.files import Entry, Format
from forebay.pipelines.bookmarks.imports import Imported, bookmark_imports
from forebay.pipelines.bookmarks.models import ImportPreview
from forebay.pipelines.bookmarks.previews import counted
from forebay.services.egress import Policy

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.api.quota import Quotas
    from forebay.api.role_pools import RolePools
    from forebay.engine.processes.limited_calls import LimitedCalls
    from forebay.settings import Settings

router = APIRouter(prefix="/api/bookmarks", tags=["bookmarks"], route_class=StrictRoute)

log = get_logger("api")

READ_BOOKMARKS = limited(bookmark_files.read_file, memory_mb=1024, timeout=120, file_mb=1, scratch_mb=1)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {kind: {} for kind in ("text/html", "text/csv", "application/json")}}},
)
async def export_bookmarks(
    who: Reader, pools: RolePoolsDep, kind: Annotated[Format, Query(alias="format")] = "html"
) -> StreamingResponse:
    """Export all bookmarks: for browsers (html), as Pocket writes them (csv), or with all fields (json)."""
    headers = {"Content-Disposition": f'attachment; filename="bookmarks.{kind}"'}
    return StreamingResponse(
        exported(partial(pools.own, who), kind), media_type=bookmark_files.media_type(kind), headers=headers
    )


_PREVIEWS: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    },
}
_IMPORTS: dict[str, Any] = idempotency.TAKES_KEY | _PREVIEWS


@router.post("/import", status_code=201, openapi_extra=_IMPORTS, responses={415: {"description": "No file"}})
async def import_bookmarks(request: Request) -> JobRef:
    """Import a bookmarks file of a browser (HTML) or Pocket (CSV or HTML), or JSON. Each bookmark becomes an item of a
    job; an invalid one is a failed item."""
    try:
        who = await authorized(request, "write", makes_owner=True)
        idempotent = await idempotency.of(request)
        return await _import(request, who, idempotent, *await _uploaded(request))
    finally:
        await request.close()


@router.post("/import/preview", openapi_extra=_PREVIEWS, responses={415: {"description": "No file"}})
async def preview_import(request: Request) -> ImportPreview:
    """Read a bookmarks file and count what an import would do. Nothing is saved."""
    try:
        who = await authorized(request, "write", makes_owner=True)
        _, entries = await _uploaded(request)
        settings: Settings = request.app.state.settings
        found = await asyncio.to_thread(counted, entries, Policy.of(settings))
        pools: RolePools = request.app.state.pools
        async with pools.own(who) as conn:
            known = await rows.count_known(conn, who.owner_id, found.pages)
    finally:
        await request.close()
    return ImportPreview(
        links=len(entries), known=known, repeated=found.repeated, invalid=found.invalid, folders=found.folders
    )


async def _uploaded(request: Request) -> tuple[str, list[Entry]]:
    """The name of the file and its bookmarks, read in a limited process because the file is untrusted.

    Raises: Problem, InvalidField.
    """
    if not bodies.is_upload(request):
        raise Problem(415, "send multipart/form-data with a file")
    file = (await bodies.form(request)).get("file")
    if not isinstance(file, UploadFile):
        raise Problem(422, "must be a bookmarks file", field="file")
    calls: LimitedCalls = request.app.state.limited
    with NamedTemporaryFile(prefix="forebay-bookmarks-") as copy:
        await asyncio.to_thread(shutil.copyfileobj, file.file, copy)
        copy.flush()
        try:
            return file.filename or "bookmarks", await calls.call(READ_BOOKMARKS, Path(copy.name))
        except DataError as error:
            raise InvalidField("file", str(error)) from error


async def _import(
    request: Request, who: Principal, idempotent: idempotency.Idempotency, name: str, entries: list[Entry]
) -> JobRef:
    pools: RolePools = request.app.state.pools
    quotas: Quotas = request.app.state.quotas
    quota = await quotas.of(pools.owners, who.owner_id)
    async with pools.own(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return JobRef.model_validate(known.body)
        quota.admit(len(entries))
        await session_context.begin_upload(conn, checked_text("file", name[:500], 500))
        job = await submit_many(conn, bookmark_imports, map(imported_of, entries), owner=who.owner)
        ref = JobRef(job_id=str(job.job_id), created=job.created, items=job.items)
        await idempotent.keep(conn, who, 201, ref.model_dump(by_alias=True))
    log.info("bookmarks_imported", job=job.job_id, owner=who.owner, items=job.items)
    return ref


def imported_of(entry: Entry) -> Imported:
    """The input of the import pipeline for a bookmark."""
    return Imported(
        url=_text(entry.url) or "",
        title=_text(entry.title),
        note=_text(entry.note),
        tags=[_text(tag) or "" for tag in entry.tags],
        category=_text(entry.category),
        added_at=entry.added_at,
        archived=entry.archived,
        fault=_text(entry.fault),
    )


def _text(text: str | None) -> str | None:
    """Text that the database can store: without NUL and surrogates."""
    return None if text is None else text[:100_000].replace("\0", "").encode("utf-8", "replace").decode()
