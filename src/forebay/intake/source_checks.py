"""The checks of sources in `forebay doctor`."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, StepError
from forebay.hooks import Finding
from forebay.intake.sources import declared_sources, setting_names
from forebay.services.egress import open_egress
from forebay.services.sources import open_source

if TYPE_CHECKING:
    from forebay.intake.target import IntakeTarget
    from forebay.services.egress import Egress
    from forebay.services.sources import SourceSpec
    from forebay.settings import Settings

_SECONDS = 10.0  # for a response; a whole source gets three times as long
_ENTRIES = 1000  # that are listed at most
_GUIDE = "fix that: docs/howto/sources.md shows how they are declared"


async def check(target: IntakeTarget, settings: Settings) -> list[Finding]:
    """Check that the sources are declared correctly and can be listed; nothing if none are configured."""
    folder = target.own_settings(settings).sources
    if folder is None:
        return []
    try:
        found = declared_sources(target, settings)
    except ConfigError as error:
        return [Finding("FAIL", "sources", str(error), _GUIDE)]
    if not found.good and not found.wrong:
        return [Finding("OK", "sources", f"none from {folder}")]
    wrong = [Finding("FAIL", "sources", found.problem, _GUIDE)] if found.problem else []
    return [*await _looks(target, found.good, settings), *wrong]


async def _looks(target: IntakeTarget, sources: list[SourceSpec], settings: Settings) -> list[Finding]:
    async with AsyncExitStack() as stack:
        try:
            is_remote = any(source.url.scheme != "file" for source in sources)
            egress = await stack.enter_async_context(open_egress(settings)) if is_remote else None
        except ConfigError as error:
            return [Finding("FAIL", "sources", str(error), _GUIDE)]
        return list(await asyncio.gather(*(_look(target, source, egress, settings) for source in sources)))


async def _look(target: IntakeTarget, source: SourceSpec, egress: Egress | None, settings: Settings) -> Finding:
    if missing := source.missing_secrets():
        text = f"{source.name} cannot be looked at without its secrets"
        return Finding("WARN", "sources", text, f"set {' and '.join(missing)} for the workers")
    try:
        async with asyncio.timeout(3 * _SECONDS):
            return Finding("OK", "sources", f"{source.name}: {await _listed(target, source, egress, settings)}")
    except ConfigError as error:
        return Finding("FAIL", "sources", f"{source.name}: {error}", _GUIDE)
    except StepError as error:
        return Finding("WARN", "sources", f"{source.name}: {error}", "see whether it is up, and lets this machine in")
    except TimeoutError:
        text = f"{source.name}: {source.url} took more than {3 * _SECONDS:g} s to list"
        return Finding("WARN", "sources", text, "see whether it is up, and lets this machine in")


async def _listed(target: IntakeTarget, source: SourceSpec, egress: Egress | None, settings: Settings) -> str:
    """The number of files among the first entries, in words."""
    bounds = {"max_entries": min(source.max_entries, _ENTRIES), "timeout_s": min(source.timeout_s, _SECONDS)}
    bounded, roots = source.model_copy(update=bounds), target.own_settings(settings).root_folders
    async with open_source(bounded, egress, settings, roots=roots, names=setting_names(target)) as opened:
        files = sum([1 async for _ in opened.list()])
        scan = opened.scan
    text = f"{source.url} has {files} {'file' if files == 1 else 'files'} to take"
    if not scan.is_whole:
        return f"{text} among the first {bounds['max_entries']} entries"
    if scan.unsettled:
        text += f", and {scan.unsettled} that may still be written"
    return f"{text}; {scan.left_out[0].name} {scan.left_out[0].reason}" if scan.left_out else text
