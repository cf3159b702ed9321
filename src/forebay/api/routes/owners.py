"""Owners: weights, limits and usage."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from forebay.api import paging
from forebay.api.auth.authentication import Admin, Reader
from forebay.api.deps import After, PageSize, RolePoolsDep, SettingsDep
from forebay.api.models import Id, Model, Next, Strict
from forebay.api.routes.items import UserId
from forebay.api.routes.jobs import whose
from forebay.api.strict_query import StrictRoute
from forebay.errors import NotFoundError
from forebay.identity import owners
from forebay.log import get_logger
from forebay.storage import db as files

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.identity.owners import OwnerRow
    from forebay.settings import Settings

router = APIRouter(prefix="/api/owners", tags=["operations"], route_class=StrictRoute)

log = get_logger("api")

Most = Annotated[int, Field(ge=0, le=2**31 - 1)]
_LIMITS = ("max_open_jobs", "max_open_items", "submits_per_minute")


class OwnerLimit(Model):
    most: int
    is_default: bool = Field(description="as in the settings of the service")
    used: int | None = Field(description="null: unknown")


class Owner(Model):
    """An owner of jobs and files, with or without an account of the same name."""

    id: Id
    name: str
    weight: float = Field(description="an owner with twice the weight gets twice the share of the workers")
    open_jobs: OwnerLimit
    open_items: OwnerLimit
    submits_per_minute: OwnerLimit
    stored_files: int = Field(description="as counted every hour")
    stored_bytes: int
    created_at: datetime


class OwnerPage(Model):
    owners: list[Owner]
    next: Next


class ChangeOwner(Strict):
    """Fields that are absent stay as they are; a limit of null is that of the settings."""

    weight: Annotated[float, Field(ge=0.01, le=1000)] | None = Field(default=None, description="null: unchanged")
    max_open_jobs: Most | None = None
    max_open_items: Most | None = None
    submits_per_minute: Most | None = None


@router.get("")
async def list_owners(
    who: Reader,
    pools: RolePoolsDep,
    settings: SettingsDep,
    size: PageSize,
    user_id: UserId = "me",
    prefix: Annotated[str, Query(description="names that begin so", max_length=200)] = "",
    after: After = None,
) -> OwnerPage:
    """The caller's weight, limits and usage; for administrators those of all owners, in the order of their
    creation."""
    start = 0 if after is None else paging.decode(after, paging.integer)[0]
    of = pools.of if whose(who, user_id) is None else pools.own
    async with of(who) as conn:
        rows = await owners.page(conn, start, prefix, size + 1)
        shown = await _shown(conn, rows[:size], settings)
    more = rows[size - 1].id if len(rows) > size else None
    paging.tell("owners", [row.id for row in rows[:size]], more)
    return OwnerPage(owners=shown, next=None if more is None else paging.encode(more))


@router.patch("/{name}")
async def change_owner(
    name: Annotated[str, Path(max_length=200)],
    body: ChangeOwner,
    who: Admin,
    pools: RolePoolsDep,
    settings: SettingsDep,
) -> Owner:
    """Change the weight or the limits of an owner."""
    async with pools.of(who) as conn:
        owner_id = await owners.find(conn, name)
        if owner_id is None:
            raise NotFoundError("owner", f"there is no owner {name!r}")
        if body.weight is not None and await owners.set_weight(conn, name, body.weight, who.actor):
            log.info("owner_weight_set", owner=name, weight=body.weight, by=who.actor)
        limits = {limit: getattr(body, limit) for limit in _LIMITS if limit in body.model_fields_set}
        if limits and await owners.set_limits(conn, owner_id, limits, who.actor):
            log.info("owner_limits_set", owner=name, by=who.actor, **limits)
        (shown,) = await _shown(conn, [await owners.row_of(conn, owner_id)], settings)
    return shown


async def _shown(conn: Connection, rows: list[OwnerRow], settings: Settings) -> list[Owner]:
    stored: dict[int, tuple[int, int]] = {}
    for kind in await files.last_usage(conn, len(rows), [row.id for row in rows]):
        files_, bytes_ = stored.get(kind.owner_id, (0, 0))
        stored[kind.owner_id] = (files_ + kind.files, bytes_ + kind.bytes)
    return [_owner(row, settings, *stored.get(row.id, (0, 0))) for row in rows]


def _owner(row: OwnerRow, settings: Settings, stored_files: int, stored_bytes: int) -> Owner:
    return Owner(
        id=row.id,  # type: ignore[arg-type]
        name=row.name,
        weight=row.weight,
        open_jobs=_limit(row.max_open_jobs, settings.max_open_jobs, row.open_jobs),
        open_items=_limit(row.max_open_items, settings.max_open_items, row.open_items),
        submits_per_minute=_limit(row.submits_per_minute, settings.submits_per_minute, None),
        stored_files=stored_files,
        stored_bytes=stored_bytes,
        created_at=row.created_at,
    )


def _limit(own: int | None, default: int, used: int | None) -> OwnerLimit:
    return OwnerLimit(most=default if own is None else own, is_default=own is None, used=used)
