"""Sources of files: which there are, and looking through them now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from forebay.api import idempotency
from forebay.api.auth.authentication import Reader, Writer
from forebay.api.deps import RolePoolsDep, SettingsDep
from forebay.api.models import Id, Model, Strict
from forebay.api.problems import Problem
from forebay.api.strict_query import StrictRoute
from forebay.engine.submit.producer import submit
from forebay.errors import NotFoundError
from forebay.log import get_logger
from forebay.pipelines.sheets.scans import ScanRequest, sheet_scans
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.pipelines.sheets.sources import declared_sources

if TYPE_CHECKING:
    from forebay.api.auth.authentication import Principal
    from forebay.services.sources import Sources, SourceSpec
    from forebay.settings import Settings

router = APIRouter(prefix="/api/ingestion", tags=["sheets"], route_class=StrictRoute)

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
    """A place that files are taken from."""

    name: str
    kind: str = Field(description="file, s3, ftp, ftps or sftp")
    owner: str = Field(description="whose sheets the files become")
    patterns: list[str]
    recursive: bool
    schedule: str | None
    timezone: str
    after: str = Field(description="what happens to a file that was taken: keep, delete or move")


class SourceList(Model):
    sources: list[SourceInfo]


@router.get("/sources")
async def list_sources(who: Reader, settings: SettingsDep) -> SourceList:
    """The sources whose files become yours; administrators see all."""
    return SourceList(
        sources=[
            SourceInfo(
                name=each.name,
                kind=each.url.scheme,
                owner=each.owner,
                patterns=each.patterns,
                recursive=each.recursive,
                schedule=each.schedule,
                timezone=each.timezone,
                after=each.after,
            )
            for each in sources_of(who, settings)
        ]
    )


@router.post("/scan", status_code=202, openapi_extra={"parameters": [idempotency.ANSWERED_AGAIN]})
async def scan_sources(
    body: WantedScan, who: Writer, pools: RolePoolsDep, settings: SettingsDep, request: Request
) -> BegunScans:
    """Look through sources now, in the background; their new files become sheets."""
    chosen = [find_source(who, settings, body.source)] if body.source is not None else sources_of(who, settings)
    idempotent = await idempotency.of(request)
    async with pools.of(who) as conn:
        if (known := await idempotent.answer(conn, who)) is not None:
            return BegunScans.model_validate(known.body)
        begun: list[BegunScan] = []
        for each in chosen:
            job = await submit(conn, sheet_scans, ScanRequest(source=each.name), owner=each.owner)
            begun.append(BegunScan(source=each.name, job_id=str(job.job_id)))
        answer = BegunScans(scans=begun)
        await idempotent.keep(conn, who, 202, answer.model_dump(by_alias=True))
    for scan in begun:
        log.info("scan_begun", source=scan.source, job=int(scan.job_id), by=who.actor)
    return answer


def sources_of(who: Principal, settings: Settings) -> list[SourceSpec]:
    """The sources whose files become the caller's; all for administrators."""
    return [each for each in _sources(settings).good if _may_see(who, each.owner)]


def find_source(who: Principal, settings: Settings, name: str) -> SourceSpec:
    """Raises: NotFoundError when there is none that the caller may see; ConfigError when it is declared wrongly."""
    sources = _sources(settings)
    for each in sources.good:
        if each.name == name and _may_see(who, each.owner):
            return each
    for wrong in sources.wrong:
        if wrong.name == name and _may_see(who, wrong.owner):
            raise wrong.error()
    raise NotFoundError("source", f"there is no source {name!r}")


def _sources(settings: Settings) -> Sources:
    if not settings.of(SheetsSettings).enabled:
        raise Problem(404, "is switched off here: FOREBAY_SHEETS_ENABLED")
    return declared_sources(settings)


def _may_see(who: Principal, owner: str | None) -> bool:
    return who.is_admin or owner == who.owner
