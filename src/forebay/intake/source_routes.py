"""The routes of sources: list and scan them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from forebay.api import idempotency
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import RolePoolsDep, SettingsDep
from forebay.api.models import Id, Model, Strict
from forebay.api.strict_query import StrictRoute
from forebay.engine.submit.producer import submit
from forebay.errors import NotFoundError
from forebay.intake.scans import ScanRequest, scan_pipeline
from forebay.intake.sources import declared_sources
from forebay.intake.uploads import check_enabled
from forebay.log import get_logger

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.intake.target import IntakeTarget
    from forebay.services.sources import Sources, SourceSpec
    from forebay.settings import Settings

log = get_logger("api")


class WantedScan(Strict):
    source: Annotated[str, Field(min_length=1, max_length=50)] | None = Field(
        default=None, description="the one to look through; without it all that you may"
    )


class BegunScan(Model):
    source: str
    job_id: Id


class BegunScans(Model):
    scans: list[BegunScan]


class SourceInfo(Model):
    """A source of files."""

    name: str
    kind: str = Field(description="file, s3, ftp, ftps or sftp")
    owner: str = Field(description="owner of the jobs of its files")
    patterns: list[str]
    recursive: bool
    schedule: str | None
    timezone: str
    after: str = Field(description="what is done with a file after it was taken: keep, delete or move")


class SourceList(Model):
    sources: list[SourceInfo]


@cache
def source_router(target: IntakeTarget) -> APIRouter:
    """The routes of the sources of one target."""
    router = APIRouter(prefix=target.sources_path, tags=[target.name], route_class=StrictRoute)
    scans = scan_pipeline(target)

    @router.get("/sources")
    async def list_sources(who: Reader, settings: SettingsDep) -> SourceList:
        """List the sources whose files belong to the caller; administrators see all."""
        return SourceList(sources=[_info(each) for each in _visible_sources(target, who, settings)])

    @router.post("/scan", status_code=202, openapi_extra={"parameters": [idempotency.ANSWERED_AGAIN]})
    async def scan_sources(
        body: WantedScan, who: Writer, pools: RolePoolsDep, settings: SettingsDep, request: Request
    ) -> BegunScans:
        """Scan sources now, in the background; new files become jobs."""
        if body.source is None:
            chosen = _visible_sources(target, who, settings)
        else:
            chosen = [find_visible_source(target, who, settings, body.source)]
        idempotent = await idempotency.of(request)
        async with pools.of(who) as conn:
            if (known := await idempotent.answer(conn, who)) is not None:
                return BegunScans.model_validate(known.body)
            begun: list[BegunScan] = []
            for each in chosen:
                job = await submit(conn, scans, ScanRequest(source=each.name), owner=each.owner)
                begun.append(BegunScan(source=each.name, job_id=str(job.job_id)))
            answer = BegunScans(scans=begun)
            await idempotent.keep(conn, who, 202, answer.model_dump(by_alias=True))
        for scan in begun:
            log.info("scan_begun", source=scan.source, job=int(scan.job_id), by=who.actor)
        return answer

    return router


def _info(declared: SourceSpec) -> SourceInfo:
    return SourceInfo(
        name=declared.name,
        kind=declared.url.scheme,
        owner=declared.owner,
        patterns=declared.patterns,
        recursive=declared.recursive,
        schedule=declared.schedule,
        timezone=declared.timezone,
        after=declared.after,
    )


def _visible_sources(target: IntakeTarget, who: Principal, settings: Settings) -> list[SourceSpec]:
    """The sources whose files belong to the caller; all for administrators."""
    return [each for each in _sources(target, settings).good if _may_see(who, each.owner)]


def find_visible_source(target: IntakeTarget, who: Principal, settings: Settings, name: str) -> SourceSpec:
    """Raises: NotFoundError if the caller sees no such source; ConfigError if its declaration is invalid."""
    sources = _sources(target, settings)
    for each in sources.good:
        if each.name == name and _may_see(who, each.owner):
            return each
    for wrong in sources.wrong:
        if wrong.name == name and _may_see(who, wrong.owner):
            raise wrong.error()
    raise NotFoundError("source", f"there is no source {name!r}")


def _sources(target: IntakeTarget, settings: Settings) -> Sources:
    check_enabled(target, settings)
    return declared_sources(target, settings)


def _may_see(who: Principal, owner: str | None) -> bool:
    return who.is_admin or owner == who.owner
