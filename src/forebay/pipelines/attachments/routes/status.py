"""The deliveries of senders, the state of the downloads, and the quotas."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query

from forebay.api import paging
from forebay.api.auth.authentication import Reader
from forebay.api.deps import After, Number, PageSize, RolePoolsDep, SettingsDep
from forebay.api.strict_query import StrictRoute
from forebay.pipelines.attachments import db, worker_status
from forebay.pipelines.attachments.models import AttachmentStatus, DeliveryPage, Quota, SenderInfo, Verdict, delivery_of
from forebay.pipelines.attachments.settings import AttachmentsSettings
from forebay.pipelines.attachments.webhook_sources import Sender, senders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forebay.api.auth.authentication import Principal
    from forebay.settings import Settings

router = APIRouter(prefix="/api/attachments", tags=["attachments"], route_class=StrictRoute)

Source = Annotated[str | None, Query(max_length=50, description="of this sender only")]


@router.get("/deliveries")
async def list_deliveries(
    who: Reader,
    pools: RolePoolsDep,
    size: PageSize,
    after: After = None,
    source: Source = None,
    verdict: Annotated[Verdict | None, Query(description="with this verdict only")] = None,
    instance_id: Annotated[Number | None, Query(alias="instanceId", pattern="^[0-9]{1,18}$")] = None,
) -> DeliveryPage:
    """List the requests of senders with their verdicts, newest first."""
    before = paging.decode(after, paging.integer)[0] if after else None
    async with pools.of(who) as conn:
        about = None if instance_id is None else int(instance_id)
        rows = await db.deliveries(conn, before, size, source, verdict, about)
    more = paging.encode(rows[-1]["id"]) if len(rows) == size else None
    return DeliveryPage(items=[delivery_of(row) for row in rows], next=more)


@router.get("/status")
async def get_status(who: Reader, pools: RolePoolsDep, settings: SettingsDep) -> AttachmentStatus:
    """The state of the downloads."""
    async with pools.of(who) as conn:
        work = await worker_status.read(conn, None if who.is_admin else who.owner_id)
    async with pools.watch.acquire() as conn:
        workers = await worker_status.workers(conn)
    return worker_status.judged(work, workers, settings.of(AttachmentsSettings).stuck_s)


@router.get("/quota")
async def get_quota(who: Reader, pools: RolePoolsDep, settings: SettingsDep) -> list[Quota]:
    """The requests for files that senders allow, and how many have been sent."""
    async with pools.of(who) as conn:
        used = await db.quota(conn)
    return [_quota(sender, used) for sender in await _visible(who, settings)]


@router.get("/sources")
async def list_sources(who: Reader, settings: SettingsDep) -> list[SenderInfo]:
    """The configured senders; of others than administrators, their own."""
    return [
        SenderInfo(
            name=each.name,
            kind=each.kind,
            path=each.path,
            owner=each.owner,
            is_ready=each.problem is None,
            problem=each.problem,
        )
        for each in await _visible(who, settings)
    ]


async def _visible(who: Principal, settings: Settings) -> list[Sender]:
    known = await asyncio.to_thread(senders, settings)
    return [each for each in known.values() if who.is_admin or each.owner == who.owner]


def _quota(sender: Sender, used: Mapping[str, tuple[int, datetime]]) -> Quota:
    count, since = used.get(sender.app) or (0, None)
    return Quota(
        source=sender.name,
        per_second=sender.rate,
        per_day=sender.per_day,
        used=count,
        left=None if sender.per_day is None else max(0, sender.per_day - count),
        next_at=None if since is None else since + timedelta(hours=25),
    )
