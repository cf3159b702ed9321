"""ffmpeg and yt-dlp: how steps run them in a sandbox, and ffmpeg a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from forebay import resources
from forebay.engine.declare.resources import Resources, resource
from forebay.runner.program import ProgramLimits, run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.runner.availability import Mode
    from forebay.runner.program import Finished
    from forebay.settings import Settings

_AT_ONCE = 2  # they use a processor and tens of megabytes each, while a worker may have a hundred downloads
_NO_COLOUR = {"AV_LOG_FORCE_NOCOLOR": "1"}


@resource
async def program_slots(given: Resources) -> AsyncGenerator[asyncio.Semaphore]:
    yield asyncio.Semaphore(_AT_ONCE)


def sandbox_mode(settings: Settings, *, uses_network: bool) -> Mode:
    """What FOREBAY_SANDBOX means for a program: required, if it may use the network."""
    return settings.sandbox or ("required" if uses_network else "preferred")


async def run_offline(
    ctx: Context,
    argv: Sequence[str],
    *,
    inputs: dict[str, Path],
    limits: ProgramLimits,
    output: Path | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """Run a program that reads the given files, and has no network and no other files.

    Raises: ConfigError, TransientError.
    """
    settings = await ctx.get(resources.settings)
    async with await ctx.get(program_slots):
        return await run_program(
            argv,
            mode=sandbox_mode(settings, uses_network=False),
            inputs=inputs,
            output=output,
            environment=_NO_COLOUR,
            limits=limits,
            on_line=on_line,
        )
