"""Providers and catalogues."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import Field

from forebay.api.auth.authentication import Admin, Reader, Writer
from forebay.api.deps import RolePoolsDep, SettingsDep
from forebay.api.models import Model
from forebay.api.strict_query import StrictRoute
from forebay.engine.db import overview
from forebay.errors import ConfigError, NotFoundError
from forebay.log import get_logger
from forebay.pipelines.sheets.catalogue_provider import NAME as BUILT_IN
from forebay.pipelines.sheets.db import catalogues
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.products import load_declarations
from forebay.services.products.strategies import NAMES as STRATEGIES

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.api.role_pools import RolePools
    from forebay.services.products.provider_spec import ProviderSpec

router = APIRouter(prefix="/api", tags=["catalogues"], route_class=StrictRoute)

log = get_logger("api")

Name = Annotated[str, Path(description="name of the catalogue", min_length=1, max_length=100)]
_COUNTS = ("asked", "answered", "not_found", "throttled", "failed", "remembered")


class Catalogue(Model):
    name: str
    owner: str | None = Field(description="null: another owner, who shares it")
    shared: bool = Field(description="shared with all users")
    products: int
    created_at: datetime
    updated_at: datetime | None


class CatalogueList(Model):
    catalogues: list[Catalogue]


class ProviderInfo(Model):
    name: str
    enabled: bool
    built_in: bool
    priority: int = Field(description="smaller ones are queried first")
    strategies: list[str] = Field(description="the supported strategies")
    state: Literal["disabled", "unused", "open", "closed"] = Field(
        description="closed: not queried for now, as it throttles, fails or rejects us; unused: not queried yet"
    )
    closed_because: str | None
    closed_seconds: float
    problem: str | None = Field(description="what to fix before it can be queried; for administrators")
    concurrency_limit: int = Field(description="concurrent queries of all workers together")
    throttle_ratio: float = Field(
        description="share of throttled in the last hundred responses, highest of all workers"
    )
    seconds: float | None = Field(description="response time, mean of the workers")
    asked: int
    answered: int
    not_found: int
    throttled: int
    failed: int
    remembered: int


class ProviderList(Model):
    providers: list[ProviderInfo]
    problem: str | None = Field(description="errors in the declarations; for administrators")


@router.get("/catalogues")
async def list_catalogues(who: Reader, pools: RolePoolsDep) -> CatalogueList:
    """List the caller's catalogues and shared ones; for administrators, all."""
    async with pools.of(who) as conn:
        found = await catalogues.find(conn, None)
    return CatalogueList(catalogues=[Catalogue(**{k: v for k, v in row.items() if k != "id"}) for row in found])


@router.delete("/catalogues/{name}", status_code=204)
async def drop_catalogue(name: Name, who: Writer, pools: RolePoolsDep) -> None:
    """Delete a catalogue of the caller and its products."""
    async with pools.own(who) as conn:
        if not await catalogues.drop(conn, who.owner_id, name):
            raise _not_there(name)
    log.info("catalogue_dropped", catalogue=name, by=who.actor)


@router.post("/catalogues/{name}/share", status_code=204)
async def share_catalogue(name: Name, who: Admin, pools: RolePoolsDep) -> None:
    """Share a catalogue of the administrator with all users."""
    await _share(name, who, pools, shared=True)


@router.post("/catalogues/{name}/unshare", status_code=204)
async def unshare_catalogue(name: Name, who: Admin, pools: RolePoolsDep) -> None:
    """Stop sharing a catalogue."""
    await _share(name, who, pools, shared=False)


async def _share(name: str, who: Principal, pools: RolePools, *, shared: bool) -> None:
    async with pools.of(who) as conn:
        if not await catalogues.share(conn, who.owner_id, name, shared=shared):
            raise _not_there(name)
    log.info("catalogue_shared" if shared else "catalogue_unshared", catalogue=name, by=who.actor)


def _not_there(name: str) -> NotFoundError:
    return NotFoundError("catalogue", f"you have no catalogue {name!r}")


@router.get("/providers")
async def list_providers(who: Reader, pools: RolePoolsDep, settings: SettingsDep) -> ProviderList:
    """List the providers and their state."""
    async with pools.of(who) as conn:
        workers = [row.shared.get("providers", {}) for row in await overview.workers(conn) if row.alive]
    problem = None
    try:
        declared = await asyncio.to_thread(load_declarations, settings.of(SheetsSettings).providers)
    except ConfigError as error:
        declared, problem = [], str(error)
    told = [_built_in(workers), *(_declared(each, workers) for each in declared)]
    if not who.is_admin:
        told = [each.model_copy(update={"problem": None}) for each in told]
    return ProviderList(providers=told, problem=problem if who.is_admin else None)


_Workers = Sequence[Mapping[str, Mapping[str, Any]]]


def _built_in(workers: _Workers) -> ProviderInfo:
    about = _seen(BUILT_IN, workers, enabled=True)
    strategies = list(STRATEGIES)
    return ProviderInfo(name=BUILT_IN, enabled=True, built_in=True, priority=0, strategies=strategies, **about)


def _declared(each: ProviderSpec, workers: _Workers) -> ProviderInfo:
    about = _seen(each.name, workers, enabled=each.enabled)
    strategies = list(each.queries) if each.function is None else each.strategies
    return ProviderInfo(
        name=each.name, enabled=each.enabled, built_in=False, priority=each.priority, strategies=strategies, **about
    )


def _seen(name: str, workers: _Workers, *, enabled: bool) -> dict[str, Any]:
    """The sum of the workers' reports."""
    rows = [worker[name] for worker in workers if name in worker]
    closed = max(rows, key=lambda row: row["closed_s"], default=None)
    seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
    is_closed = closed is not None and closed["closed_s"] > 0
    used = "closed" if is_closed else "open" if any(row["asked"] for row in rows) else "unused"
    return {
        **{count: sum(row[count] for row in rows) for count in _COUNTS},
        "state": used if enabled else "disabled",
        "closed_because": closed["closed_because"] if closed is not None and is_closed else None,
        "problem": next((row["problem"] for row in rows if row.get("problem")), None),
        "closed_seconds": closed["closed_s"] if closed is not None else 0.0,
        "concurrency_limit": sum(row["limit"] for row in rows),
        "throttle_ratio": max((row["throttle_ratio"] for row in rows), default=0.0),
        "seconds": sum(seconds) / len(seconds) if seconds else None,
    }
