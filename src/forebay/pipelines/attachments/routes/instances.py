"""Instances: what senders have announced, with the files of each and its voucher."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from forebay.api import paging
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import After, FileAccessDep, Number, PageSize, RolePoolsDep, SettingsDep
from forebay.api.routes.files import link_to
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.attachments import db
from forebay.pipelines.attachments.models import (
    FileStatus,
    InstanceDetail,
    InstancePage,
    RetriedFiles,
    delivery_of,
    detail_of,
    file_of,
    instance_of,
)
from forebay.storage import db as files

router = APIRouter(prefix="/api/attachments/instances", tags=["attachments"], route_class=StrictRoute)

log = get_logger("attachments")

Source = Annotated[str | None, Query(max_length=50, description="of this sender only")]
_DELIVERIES = 20


@router.get("")
async def list_instances(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    after: After = None,
    source: Source = None,
    status: Annotated[FileStatus | None, Query(description="with a file in this state")] = None,
    q: Annotated[str | None, Query(max_length=200, description="text in the title or the key")] = None,
) -> InstancePage:
    """List instances, newest first, with the number of their files by status."""
    before = paging.decode(after, paging.integer)[0] if after else None
    async with pools.of(who) as conn:
        rows = await db.instances(conn, before, size, source, status, q or None)
    more = paging.encode(rows[-1]["id"]) if len(rows) == size else None
    return InstancePage(items=[instance_of(row) for row in rows], next=more)


@router.get("/{instance_id}")
async def get_instance(
    instance_id: Number, who: Reader, pools: RolePoolsDep, access: FileAccessDep, settings: SettingsDep
) -> InstanceDetail:
    """An instance with its files, its form, its deliveries and a link to its voucher, or why there is none yet."""
    async with pools.of(who) as conn:
        row = await db.instance(conn, int(instance_id))
        if row is None:
            raise _missing(instance_id)
        found = [file_of(each) for each in await db.files_of(conn, int(instance_id))]
        deliveries = [delivery_of(each) for each in await db.deliveries(conn, None, _DELIVERIES, None, None, row["id"])]
        voucher = None if row["voucher_id"] is None else await files.get(conn, row["voucher_id"])
    url = None if voucher is None else (await link_to(access, settings, voucher, inline=True))[0]
    return detail_of(row, found, deliveries, url)


@router.post("/{instance_id}/retry")
async def retry_instance(instance_id: Number, who: Writer, pools: RolePoolsDep) -> RetriedFiles:
    """Download the failed files of an instance again, and make its voucher anew."""
    async with pools.of(who) as conn:
        if await db.instance(conn, int(instance_id)) is None:
            raise _missing(instance_id)
        jobs = await db.retry(conn, instance_id=int(instance_id))
    log.info("attachments_retried", instance=instance_id, files=len(jobs), owner=who.owner)
    return RetriedFiles(files=len(jobs), job_ids=[str(job) for job in dict.fromkeys(jobs)])


def _missing(instance_id: str) -> NotFoundError:
    return NotFoundError("instance", f"there is no instance {instance_id}")
