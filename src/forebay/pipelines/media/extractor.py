"""Asks yt-dlp what a page leads to, or lets it download a stream: in a sandbox whose only way out is the proxy."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from forebay import resources
from forebay.engine.declare.resources import Resources, resource
from forebay.errors import ConfigError, DataError, PermanentError, StepError, ThrottledError, TransientError
from forebay.pipelines.media import extractor_child
from forebay.pipelines.media.programs import sandbox_mode
from forebay.pipelines.media.settings import MediaSettings
from forebay.runner.program import ProgramLimits, run_program
from forebay.services.egress import AccessDenied, Refused, UrlNotFound
from forebay.services.egress.statuses import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.engine.declare.context import Context
    from forebay.services.egress import Grant
    from forebay.services.egress.visits import Visit

MISSING = "pages with media need a package that is not installed: pip install 'forebay[media]'"
EXTRACT_S = 240.0
GENERIC = "generic"  # the extractor of streams, and of pages that no other is made for
_UNTOLD_S = 60.0  # wait after a 429 that does not say how long
_MB = 1 << 20
_BY_STATUS: dict[int, type[StepError]] = {
    400: PermanentError,
    401: AccessDenied,
    403: AccessDenied,
    404: UrlNotFound,
    410: UrlNotFound,
    451: PermanentError,
}
_NEVER = {
    "NoSupportingHandlers",
    "UnsupportedRequest",
    "UnsupportedError",
    "GeoRestrictedError",
    "UnsafeExtension",
    "_UnsafeExtensionError",
}


# The sandbox cannot store bytecode, and packages may be installed without: every run would compile for seconds.
_COMPILE = "import yt_dlp; yt_dlp.YoutubeDL({'allowed_extractors': ['generic']}).get_info_extractor('Generic')"


@resource
async def compiled_extractor(given: Resources) -> AsyncGenerator[None]:
    """Stores the bytecode of yt-dlp once in a worker, if its folder can be written."""
    if find_spec("yt_dlp") is None:
        raise ConfigError(MISSING)
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-c",
        _COMPILE,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        env={"YTDLP_NO_PLUGINS": "1"},
    )
    await child.wait()
    yield


@dataclass(frozen=True, slots=True)
class Order:
    """What yt-dlp is to do: `download` into `folder`, or only say what there is."""

    url: str
    folder: Path
    download: bool
    timeout: float
    purpose: str
    extractors: tuple[str, ...] = ()  # their names, if they are known; otherwise they are found by the URL


class _Reports:
    """The lines that the child prints."""

    def __init__(self, tell: Callable[[int, int | None], None] | None, visit: Visit) -> None:
        self.error: dict[str, Any] = {}
        self._tell, self._visit = tell, visit

    def add(self, line: str) -> None:
        if not line.startswith(extractor_child.MARK):
            return
        report: dict[str, Any] = json.loads(line.removeprefix(extractor_child.MARK))
        if "error" in report:
            self.error = report
        elif "host" in report:
            told = {"retry-after": str(report.get("retryAfter") or "")}
            self._visit.told(str(report["host"]), int(report["status"]), told, float(report["seconds"]))
        elif self._tell is not None and report.get("done") is not None:
            self._tell(int(report["done"]), report.get("total"))


async def run_extractor(
    ctx: Context, order: Order, tell: Callable[[int, int | None], None] | None = None
) -> tuple[dict[str, Any], list[Path]]:
    """What yt-dlp found, and the files that it wrote.

    Raises: UrlNotFound, AccessDenied, Refused, ThrottledError, TransientError, PermanentError, DataError, ConfigError.
    """
    await ctx.get(compiled_extractor)
    settings, egress, http = (
        await ctx.get(resources.settings),
        await ctx.get(resources.egress),
        await ctx.get(resources.http),
    )
    own = settings.of(MediaSettings)
    await asyncio.to_thread(order.folder.mkdir, mode=0o700, exist_ok=True)
    most = own.max_bytes + own.max_bytes // 10 + 32 * _MB  # the file, and what surrounds it
    limits = replace(egress.limits, bytes_down=most, total_s=order.timeout)
    async with http.visiting(order.url) as visit:
        reports = _Reports(tell, visit)
        with egress.grant(order.purpose, limits, visit=visit) as grant:
            try:
                done = await run_program(
                    _command(order, own),
                    mode=sandbox_mode(settings, uses_network=True),
                    output=order.folder,
                    network=egress.network(),
                    environment=grant.environment,
                    limits=_limits(order, own),
                    on_line=reports.add,
                )
            except TransientError as error:
                if grant.is_exhausted or await asyncio.to_thread(_size_of, order.folder) >= own.max_bytes:
                    raise too_large(own) from error
                raise
        if done.status != 0:
            raise _failure(reports.error, done.said, grant, own, visit.refused)
    return await asyncio.to_thread(_read_info, order.folder), done.files


def too_large(own: MediaSettings) -> DataError:
    return DataError(f"has more than {own.max_bytes} bytes, which FOREBAY_MEDIA_MAX_BYTES allows")


def _command(order: Order, own: MediaSettings) -> list[str]:
    given = {
        "url": order.url,
        "output": "@OUTPUT@",
        "download": order.download,
        "extractors": list(order.extractors),
        "maxBytes": own.max_bytes,
        "maxEntries": own.max_entries,
        "maxHeight": own.max_height,
        "stallS": min(own.stall_s, 30.0),
    }
    return [sys.executable, "-I", extractor_child.__file__, json.dumps(given)]


def _limits(order: Order, own: MediaSettings) -> ProgramLimits:
    most = own.max_bytes // _MB + 1
    # A stream is in parts, then whole, and then in another container.
    return ProgramLimits(memory_mb=1024, timeout=order.timeout, file_mb=most, output_mb=3 * most + 64, processes=128)


def _size_of(folder: Path) -> int:
    """The size of the largest file."""
    return max((file.stat().st_size for file in folder.rglob("*") if file.is_file()), default=0)


def _read_info(folder: Path) -> dict[str, Any]:
    """Raises: DataError when there is nothing."""
    path = folder / "info.json"
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise TransientError("yt-dlp said nothing about the page") from error
    if not isinstance(found, dict):
        raise DataError("there is no media on the page")
    path.unlink()
    return cast("dict[str, Any]", found)


def _failure(
    told: dict[str, Any], said: str, grant: Grant, own: MediaSettings, busy: ThrottledError | None = None
) -> StepError:
    """What the failure of yt-dlp means for the task; `busy`: the proxy did not let it ask a host."""
    if grant.is_exhausted:
        return too_large(own)
    if grant.refusals:
        return Refused(grant.refusals[0].code, grant.refusals[0].reason)
    if not told:
        return TransientError(f"yt-dlp ended without a word: {said[-200:]}")
    return _told_failure(told, busy)


def _told_failure(told: dict[str, Any], busy: ThrottledError | None) -> StepError:
    text, status = str(told["error"]), told.get("status")
    if status == 429:
        return ThrottledError(text, retry_after=_told_wait(told), says_when=True)
    if status in _BY_STATUS:
        return _BY_STATUS[status](text)
    never = not _NEVER.isdisjoint(told["kinds"])
    if busy is not None and not never:
        return busy
    return PermanentError(text) if never or (told.get("expected") and status is None) else TransientError(text)


def _told_wait(told: dict[str, Any]) -> float:
    wait = retry_after({"retry-after": str(told.get("retryAfter") or "")})
    return _UNTOLD_S if wait is None else wait


async def remove_folder(folder: Path) -> None:
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
