"""The declared sources of a target, and the files that are taken from them."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from forebay import resources
from forebay.db.pool import translating_errors
from forebay.engine.db import control
from forebay.errors import ConfigError, DataError, PermanentError
from forebay.intake import db
from forebay.services.sources import SettingNames, open_source, read_sources

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.db.pool import Connection
    from forebay.engine.declare.context import Context
    from forebay.intake.db import AddedFile, FileTerms, IntakeFile, NewFile
    from forebay.intake.target import IntakeTarget
    from forebay.services.egress import Egress
    from forebay.services.sources import Source, Sources, SourceSpec
    from forebay.settings import Settings

ASKED = "asked "  # prefix of the version of a file that was submitted by its path: any content


def setting_names(target: IntakeTarget) -> SettingNames:
    """The names of the settings, for messages about sources."""
    return SettingNames(target.settings.variable("sources"), target.settings.variable("roots"))


def declared_sources(target: IntakeTarget, settings: Settings) -> Sources:
    """Raises: ConfigError if the folder with the declarations does not exist."""
    own = target.own_settings(settings)
    return read_sources(own.sources, own.root_folders, setting_names(target))


def find_source(target: IntakeTarget, settings: Settings, name: str) -> SourceSpec:
    """Raises: ConfigError if there is no such source, or its declaration is invalid."""
    return declared_sources(target, settings).find(name)


@asynccontextmanager
async def opened_source(ctx: Context, target: IntakeTarget, name: str) -> AsyncGenerator[Source]:
    """A source within the `async with` block.

    Raises: PermanentError if its declaration is invalid or missing. A ConfigError would park the queue, and with it the
        files of all other sources.
    """
    settings = await ctx.get(resources.settings)
    roots, names = target.own_settings(settings).root_folders, setting_names(target)
    try:
        declared = find_source(target, settings, name)
        egress = await _egress_for(ctx, declared)
        async with open_source(declared, egress, settings, roots=roots, names=names) as source:
            yield source
    except ConfigError as error:
        raise PermanentError(str(error)) from error


async def _egress_for(ctx: Context, declared: SourceSpec) -> Egress | None:
    """The egress proxy for a remote source; None for a folder."""
    if declared.url.scheme == "file":
        return None
    return await ctx.get(resources.egress)


async def version_of(source: Source, file: IntakeFile) -> str:
    """The version of the content to fetch; the present one if the file was submitted by its path."""
    if not (file.version or "").startswith(ASKED):
        return file.version or ""
    async with aclosing(source.list()) as listed:
        async for found in listed:
            if found.path == file.path:
                return found.version
    raise DataError(f"there is no {file.path} in the source {file.source}, or it is still being written")


async def take(
    target: IntakeTarget, conn: Connection, owner: str, new: NewFile, terms: FileTerms, *, paused: bool, actor: str
) -> AddedFile:
    """Submit a file of a source in one transaction, unless its content was taken before; it is fetched later."""
    async with translating_errors(), conn.transaction():
        added = await target.add(conn, await db.make_owner(conn, owner), new, terms)
        if added.created:
            if paused:
                await control.pause(conn, added.job_id, actor)
            await db.begin_receiving(conn, target.name, added.reference, target.receiving)
    return added
