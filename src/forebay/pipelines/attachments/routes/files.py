"""The files of instances: those that are pending or have failed, and their retries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, Number, PageSize, RolePoolsDep
from forebay.api.strict_query import StrictRoute
from forebay.errors import ConflictError, NotFoundError
from forebay.log import get_logger
from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.models import AttachmentFile, FilePage, FileStatus, RetriedFiles, file_of

router = APIRouter(prefix="/api/attachments", tags=["attachments"], route_class=StrictRoute)

log = get_logger("attachments")

Limit = Annotated[int, Query(ge=1, le=1000, description="how many")]


@router.get("/files")
async def list_files(
    who: Reader, pools: RolePoolsDep, size: PageSize, status: FileStatus, after: After = None
) -> FilePage:
    """List the caller's files in a state, in the order in which they were announced."""
    since = paging.decode(after, paging.integer)[0] if after else 0
    async with pools.own(who) as conn:
        rows = await db.in_state(conn, status, size, after=since, owner_id=who.owner_id)
    more = paging.encode(rows[-1]["id"]) if len(rows) == size else None
    return FilePage(items=[file_of(row) for row in rows], next=more)


@router.get("/files/pending")
async def get_pending(who: Reader, pools: RolePoolsDep, limit: Limit = 10) -> list[AttachmentFile]:
    """The caller's files that are to be downloaded, the oldest first."""
    async with pools.own(who) as conn:
        return [file_of(row) for row in await db.get_pending(conn, limit, owner_id=who.owner_id)]


@router.get("/files/failed")
async def get_failed(who: Reader, pools: RolePoolsDep, limit: Limit = 10) -> list[AttachmentFile]:
    """The caller's files that could not be downloaded, the oldest first."""
    async with pools.own(who) as conn:
        return [file_of(row) for row in await db.get_failed(conn, limit, owner_id=who.owner_id)]


@router.get("/files/{attachment_id}")
async def get_file(attachment_id: Number, who: Reader, pools: RolePoolsDep) -> AttachmentFile:
    """A file of an instance. Its content is at /api/files/ID/content, with its `fileId`."""
    async with pools.of(who) as conn:
        row = await db.file(conn, int(attachment_id))
    if row is None:
        raise _missing(attachment_id)
    return file_of(row)


@router.post("/files/{attachment_id}/retry")
async def retry_file(attachment_id: Number, who: Writer, pools: RolePoolsDep) -> RetriedFiles:
    """Download a failed file again, and make the voucher of its instance anew."""
    async with pools.of(who) as conn:
        row = await db.file(conn, int(attachment_id))
        if row is None:
            raise _missing(attachment_id)
        jobs = await db.retry(conn, attachment_id=int(attachment_id))
        if not jobs:
            raise ConflictError("file", f"is {row['status']}: only failed files are retried")
    log.info("attachments_retried", file=attachment_id, files=1, owner=who.owner)
    return RetriedFiles(files=len(jobs), job_ids=[str(jobs[0])])


@router.post("/retry")
async def retry_all(who: Writer, pools: RolePoolsDep) -> RetriedFiles:
    """Download all failed files of the caller again."""
    async with pools.own(who) as conn:
        jobs = await db.retry(conn)
    log.info("attachments_retried", files=len(jobs), owner=who.owner)
    return RetriedFiles(files=len(jobs), job_ids=[str(job) for job in dict.fromkeys(jobs)])


def _missing(attachment_id: str) -> NotFoundError:
    return NotFoundError("file", f"there is no attachment {attachment_id}")
