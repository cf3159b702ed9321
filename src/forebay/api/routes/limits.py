"""Limits in use and the hosts that workers fetch from, for administrators: keys may concern any owner's work."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from pydantic import Field

from forebay.api import paging
from forebay.api.auth.authentication import Admin
from forebay.api.deps import After, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import Model, Next
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import limit_rows, overview

if TYPE_CHECKING:
    import asyncpg

    from forebay.engine.db.overview import WorkerRow

router = APIRouter(prefix="/api", tags=["operations"], route_class=StrictRoute)


class KeyInUse(Model):
    """One key of a limit over all workers."""

    waiting: int = Field(description="tasks that were told to come back")
    slots: int = Field(description="slots that workers hold")
    wanted: int = Field(description="slots that workers want")
    workers: int = Field(description="workers that hold slots")
    hold_s: float | None = Field(description="mean seconds that a slot is used; null for a limit without concurrency")
    starts_at: datetime | None = Field(description="the next start that no worker has; null for a limit without a rate")
    seen_at: datetime | None = Field(description="when a worker last asked for slots")


class LimitKey(KeyInUse):
    name: str
    key: str = Field(description="empty for a limit without keys")


class LimitPage(Model):
    limits: list[LimitKey]
    next: Next


class HostInUse(KeyInUse):
    host: str


class WorkerHosts(Model):
    """What one worker knows about hosts."""

    worker: str
    known: int
    busy: int
    closed: int = Field(description="hosts that are not asked for a while, after errors or because they said so")
    running: int = Field(description="requests")
    waiting: int
    throttled: int = Field(description="responses with the status 429, or 503 with Retry-After")
    longest_closed_s: float
    longest_delay_s: float


class HostPage(Model):
    concurrency: int = Field(
        description="requests to one host at a time, of all workers: FOREBAY_EGRESS_HOST_CONCURRENCY"
    )
    shared: bool = Field(description="false: the limit holds for each worker, and `hosts` is empty")
    hosts: list[HostInUse]
    workers: list[WorkerHosts] = Field(description="with the first page")
    next: Next


@router.get("/limits")
async def list_limits(who: Admin, pools: RolePoolsDep, size: PageSize, after: After = None) -> LimitPage:
    """The keys of limits that are in use or were of late, by name and key."""
    start = ("", "") if after is None else paging.decode(after, paging.name, paging.name)
    async with pools.of(who) as conn:
        rows = await limit_rows.keys(conn, start, size + 1)
    last = rows[size - 1] if len(rows) > size else None
    more = None if last is None else paging.encode(last["name"], last["key"])
    return LimitPage(limits=[LimitKey(**dict(row)) for row in rows[:size]], next=more)


@router.get("/hosts")
async def list_hosts(
    who: Admin, pools: RolePoolsDep, settings: SettingsDep, size: PageSize, after: After = None
) -> HostPage:
    """The hosts that workers fetch from or fetched from of late, by name."""
    start = "" if after is None else paging.decode(after, paging.name)[0]
    async with pools.of(who) as conn:
        rows = await limit_rows.hosts(conn, start, size + 1)
        workers = [] if after is not None else await overview.workers(conn)
    more = rows[size - 1]["key"] if len(rows) > size else None
    return HostPage(
        concurrency=settings.egress_host_concurrency,
        shared=settings.egress_host_shared,
        hosts=[_host(row) for row in rows[:size]],
        workers=[_worker(row) for row in workers if row.alive and "hosts" in row.shared],
        next=None if more is None else paging.encode(more),
    )


def _host(row: asyncpg.Record) -> HostInUse:
    values: dict[str, Any] = dict(row)
    return HostInUse(host=values.pop("key"), **values)


def _worker(row: WorkerRow) -> WorkerHosts:
    return WorkerHosts(worker=row.name, **row.shared["hosts"])
