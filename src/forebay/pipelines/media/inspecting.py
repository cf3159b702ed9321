"""What a downloaded file is, and a poster of it: read by FFmpeg's libraries, in a process that can do nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.engine.declare.limited import limited
from forebay.engine.declare.resources import Resources, resource
from forebay.errors import DataError, TransientError
from forebay.log import get_logger
from forebay.pipelines.media.programs import run_offline
from forebay.runner.program import ProgramLimits
from forebay.services import av_files

if TYPE_CHECKING:
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.services.av_files import AVFile

log = get_logger("media")

# Files are released: one with a second link would be copied into the store.
_READ_MEDIA = limited(av_files.read, memory_mb=1024, timeout=120, releases_files=True, needs=av_files.PACKAGES)
_LIMITS = ProgramLimits(memory_mb=1024, timeout=600, cpu_s=300, processes=64)


@resource
async def inspections(_: Resources) -> AsyncGenerator[asyncio.Semaphore]:
    """One inspection for two processors: it is short, and a process for each costs 70 MB."""
    yield asyncio.Semaphore(max(1, len(os.sched_getaffinity(0)) // 2))


async def let_sandbox_read(path: Path) -> None:
    """Its folders are private; a sandboxed program reads a file that all may read without a copy."""
    await asyncio.to_thread(path.chmod, 0o644)


async def inspect_file(ctx: Context, path: Path, *, with_poster: bool = True) -> AVFile:
    """Find out what a file is, whatever its source says. A poster that needs too much time or memory costs the poster
    only.

    Raises: DataError when it is not media; ConfigError when a package is missing; TransientError.
    """
    ctx.progress(note="waiting for the inspection of other files")
    async with await ctx.get(inspections):
        ctx.progress(note="inspecting the file")
        try:
            found = await ctx.call(_READ_MEDIA, path, with_poster=with_poster)
        except (DataError, TransientError) as error:
            if not with_poster:
                raise
            found = (await ctx.call(_READ_MEDIA, path, with_poster=False))._replace(no_poster=str(error))
    if found.no_poster is not None:
        log.warning("no_poster", job=ctx.job_id, error=found.no_poster)
    return found


async def inspect_stream(ctx: Context, path: Path) -> tuple[Path, AVFile]:
    """The joined parts of a stream as a file that browsers play, and what it is: they do not know the container of some
    streams. The video and the sound stay as they are.

    Raises: what `inspect_file` raises.
    """
    found = await inspect_file(ctx, path)
    if found.facts.container != "mpegts":
        return path, found
    made = await _remuxed(ctx, path)
    await let_sandbox_read(made)
    return made, found._replace(facts=(await inspect_file(ctx, made, with_poster=False)).facts)


async def _remuxed(ctx: Context, path: Path) -> Path:
    argv = ["ffmpeg", "-v", "error", "-nostdin", "-hide_banner", "-protocol_whitelist", "file,pipe",
            "-format_whitelist", "mpegts", "-i", "@INPUTS@/media", "-map", "0:v?", "-map", "0:a?", "-c", "copy",
            "-movflags", "+faststart", "-f", "mp4", "-y", "@OUTPUT@/whole.mp4"]  # fmt: skip
    size = (await asyncio.to_thread(path.stat)).st_size // (1 << 20) + 16
    limits = replace(_LIMITS, file_mb=2 * size, output_mb=3 * size)
    done = await run_offline(ctx, argv, inputs={"media": path}, output=path.parent, limits=limits)
    made = path.with_name("whole.mp4")
    if done.status != 0 or made not in done.files:
        raise DataError(f"is not media that can be played: {_last_words(done.said)}")
    return made


def _last_words(text: str) -> str:
    said = [line.removeprefix("/inputs/media: ") for line in text.splitlines() if line.strip()]
    return said[-1][:300] if said else "ffmpeg cannot read it"
