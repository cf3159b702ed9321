"""Scans: files of declared sources are taken, each content once, however often a scan is repeated or killed."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, ValidationError

from forebay.engine.declare.context import Context
from forebay.engine.declare.pipeline import Pipeline
from forebay.engine.declare.retry import Retry
from forebay.errors import ConfigError
from forebay.log import get_logger
from forebay.pipelines import resources
from forebay.pipelines.sheets.db import sheets as rows
from forebay.pipelines.sheets.db.sheets import NewSheet
from forebay.pipelines.sheets.reading import SheetOptions
from forebay.pipelines.sheets.sources import declared_sources, opened_source
from forebay.services.sources import Sources

if TYPE_CHECKING:
    from forebay.services.sources import Source, SourceSpec
    from forebay.settings import Settings

log = get_logger("worker")

ACTOR = "scan"


class ScanRequest(BaseModel):
    """A source that is to be looked through."""

    source: Annotated[str, Field(min_length=1, max_length=50)]


class Scanned(BaseModel):
    """What a scan has met."""

    taken: int
    known: int
    unsettled: int = Field(description="files that may still be written: the next scan looks again")
    left_out: dict[str, str] = Field(description="the first files that are not taken, and why")
    left_out_count: int
    is_whole: bool


sheet_scans = Pipeline("sheet_scans", ScanRequest, internal=True)


@sheet_scans.step(timeout=3600, concurrency=(1, 4), retry=Retry(attempts=5, base=5.0), max_expiries=1000)
async def scan(ctx: Context, wanted: ScanRequest) -> Scanned:
    """Takes the files that are new, or have changed; they are fetched by their own jobs."""
    async with opened_source(ctx, wanted.source) as source:
        return await _take(ctx, source, options_of(source.declared))


async def _take(ctx: Context, source: Source, options: SheetOptions) -> Scanned:
    declared, database = source.declared, await ctx.get(resources.database)
    given = options.model_dump(by_alias=True, exclude_defaults=True)
    taken = known = 0
    async with aclosing(source.list()) as listed:
        async for found in listed:
            new = NewSheet(found.path[-500:], found.size, given, declared.name, found.path, found.version)
            async with database.acquire() as conn:
                added = await rows.take_from_source(conn, declared.owner, new, paused=options.paused, actor=ACTOR)
            taken, known = taken + added.created, known + (not added.created)
            if added.created:
                log.info("file_taken", source=declared.name, sheet=added.id, job=added.job_id)
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


def options_of(declared: SourceSpec) -> SheetOptions:
    """What is declared of the files of a source.

    Raises: ConfigError that names the field.
    """
    try:
        return SheetOptions.model_validate(declared.sheet)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"source {declared.name}: sheet.{field}: {first['msg']}") from None


@sheet_scans.tuning
def _schedules(settings: Settings) -> None:
    """Sources with a schedule are scanned by themselves."""
    try:
        sources = declared_sources(settings)
        problem = sources.problem
    except ConfigError as error:
        sources, problem = Sources(), str(error)
    if problem:
        # Nothing else of the worker needs them; doctor, and a scan, say the same.
        log.warning("sources_declared_wrongly", error=problem)
    for each in sources.good:
        if each.schedule:
            wanted = ScanRequest(source=each.name)
            sheet_scans.schedule(f"scan {each.name}", each.schedule, wanted, owner=each.owner, timezone=each.timezone)
