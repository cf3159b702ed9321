"""The declared sources of files, as the steps of sheets use them."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, DataError, PermanentError
from forebay.pipelines import resources
from forebay.pipelines.sheets.settings import SheetsSettings
from forebay.services.sources import open_source, read_sources

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.engine.declare.context import Context
    from forebay.pipelines.sheets.db.sheets import Sheet
    from forebay.services.egress import Egress
    from forebay.services.sources import Source, Sources, SourceSpec
    from forebay.settings import Settings

ASKED = "asked "  # begins the version of a file that was asked for by its path, whatever its content is


def declared_sources(settings: Settings) -> Sources:
    """Raises: ConfigError when the folder that declares them is not there."""
    own = settings.of(SheetsSettings)
    return read_sources(own.sources, own.root_folders)


def find_source(settings: Settings, name: str) -> SourceSpec:
    """Raises: ConfigError when there is none of that name, or it is declared wrongly."""
    return declared_sources(settings).find(name)


@asynccontextmanager
async def opened_source(ctx: Context, name: str) -> AsyncGenerator[Source]:
    """A source within the `async with` block.

    Raises: PermanentError when it is declared wrongly, or not at all: a ConfigError would hold up the files of all
        others, and this one fails its own only.
    """
    settings = await ctx.get(resources.settings)
    roots = settings.of(SheetsSettings).root_folders
    try:
        declared = find_source(settings, name)
        async with open_source(declared, await _way_out(ctx, declared), settings, roots=roots) as source:
            yield source
    except ConfigError as error:
        raise PermanentError(str(error)) from error


async def _way_out(ctx: Context, declared: SourceSpec) -> Egress | None:
    """What a source needs to be reached; folders need nothing."""
    if declared.url.scheme == "file":
        return None
    return await ctx.get(resources.egress)


async def version_of(source: Source, sheet: Sheet) -> str:
    """Which content it is; of a file that somebody has asked for by its path, the present one."""
    if not (sheet.version or "").startswith(ASKED):
        return sheet.version or ""
    async with aclosing(source.list()) as listed:
        async for found in listed:
            if found.path == sheet.path:
                return found.version
    raise DataError(f"there is no {sheet.path} in the source {sheet.source}, or it is still being written")
