"""Scans: take files from declared sources, each content once, even if a scan is repeated or killed."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from forebay import resources
from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import ConfigError
from forebay.intake.db import FileTerms, NewFile
from forebay.intake.sources import declared_sources, opened_source, take
from forebay.log import get_logger
from forebay.services.sources import Sources

if TYPE_CHECKING:
    from forebay.intake.target import IntakeTarget
    from forebay.services.sources import Source, SourceSpec
    from forebay.settings import Settings

log = get_logger("worker")

ACTOR = "scan"


class ScanRequest(BaseModel):
    """A source to scan."""

    source: Annotated[str, Field(min_length=1, max_length=50)]


class Scanned(BaseModel):
    """The result of a scan."""

    taken: int
    known: int
    unsettled: int = Field(description="files that may still be written; the next scan checks them again")
    left_out: dict[str, str] = Field(description="the first files that are not taken, and why")
    left_out_count: int
    is_whole: bool


class ScanPipeline(Pipeline[ScanRequest]):
    """The pipeline that scans the sources of one target, on request and by the schedules of the sources."""

    def __init__(self, target: IntakeTarget) -> None:
        super().__init__(target.scanning, ScanRequest, internal=True, needs_database=True)
        self.target = target
        self._declare_scan()
        self.tuning(self._schedule_scans)

    def _declare_scan(self) -> None:
        @self.step(timeout=3600, concurrency=(1, 4), retry=Retry(attempts=5, base=5.0), max_expiries=1000)
        async def scan(ctx: Context, wanted: ScanRequest) -> Scanned:
            """Take new and changed files; each is fetched by its own job."""
            async with opened_source(ctx, self.target, wanted.source) as source:
                return await _take_all(ctx, self.target, source)

    def _schedule_scans(self, settings: Settings) -> None:
        try:
            sources = declared_sources(self.target, settings)
            problem = sources.problem
        except ConfigError as error:
            sources, problem = Sources(), str(error)
        if problem:
            # The rest of the worker does not need them; `doctor` and scans report the same problem.
            log.warning("sources_declared_wrongly", error=problem)
        self.knows_all_schedules = not problem
        for each in sources.good:
            if each.schedule:
                name, wanted = f"{self.target.schedule_prefix}{each.name}", ScanRequest(source=each.name)
                self.schedule(name, each.schedule, wanted, owner=each.owner, timezone=each.timezone)


@cache
def scan_pipeline(target: IntakeTarget) -> ScanPipeline:
    """The pipeline that scans the sources of a target; the same object in every call."""
    return ScanPipeline(target)


async def _take_all(ctx: Context, target: IntakeTarget, source: Source) -> Scanned:
    declared, database = source.declared, await ctx.get(resources.database)
    settings, options = await ctx.get(resources.settings), options_of(target, declared)
    given: dict[str, Any] = options.model_dump(by_alias=True, exclude_defaults=True)
    is_paused = bool(getattr(options, "paused", False))
    taken = known = 0
    async with aclosing(source.list()) as listed:
        async for found in listed:
            if why := target.check_name(settings, found.path):
                source.scan.skip(found.path, why)
                continue
            new = NewFile(found.path[-500:], found.size, given, declared.name, found.path, found.version)
            async with database.acquire() as conn:
                added = await take(target, conn, declared.owner, new, FileTerms(), paused=is_paused, actor=ACTOR)
            taken, known = taken + added.created, known + (not added.created)
            if added.created:
                log.info(
                    "file_taken",
                    source=declared.name,
                    target=target.name,
                    reference=added.reference,
                    job=added.job_id,
                )
            ctx.progress(note=f"{taken} files taken, {known} known")
    seen = source.scan
    return Scanned(
        taken=taken,
        known=known,
        unsettled=seen.unsettled,
        left_out={each.name: each.reason for each in seen.left_out},
        left_out_count=seen.left_out_count,
        is_whole=seen.is_whole,
    )


def options_of(target: IntakeTarget, declared: SourceSpec) -> BaseModel:
    """The options that a source declares for its files.

    Raises: ConfigError that names the field.
    """
    try:
        return target.options.model_validate(declared.options)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join([target.options_table, *(str(part) for part in first["loc"])])
        raise ConfigError(f"source {declared.name}: {field}: {first['msg']}") from None
