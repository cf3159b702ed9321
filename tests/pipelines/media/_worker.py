"""A worker of media in a process that a test kills: `python -m tests.pipelines.media._worker DSN FOLDER [STAGE]`.

It transcribes what has subtitles. At a stage it prints a line, and waits until it is killed.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from forebay.engine.declare.context import Context
from forebay.pipelines.media.settings import MediaSettings
from forebay.storage import Blobs
from tests.pipelines.media._bed import media_bed


async def _wait(*_: Any, **__: Any) -> Any:
    print("reached", flush=True)  # noqa: T201 - for the test
    await asyncio.Event().wait()


def wait_at(stage: str) -> None:
    """`inspecting`, `storing` (before the file is in the store), or `stored` (before there is a row)."""
    if stage == "inspecting":
        Context.call = _wait  # type: ignore[method-assign]
        return
    adopt = Blobs.adopt

    async def adopting(self: Blobs, path: Path, **given: Any) -> Any:
        if stage == "stored":
            await adopt(self, path, **given)
        await _wait()

    Blobs.adopt = adopting  # type: ignore[method-assign]


async def work(dsn: str, folder: Path) -> None:
    async with media_bed(dsn, folder, packages=[MediaSettings()]) as bed:
        await bed.bed.finish()


if __name__ == "__main__":
    if len(sys.argv) > 3:
        wait_at(sys.argv[3])
    asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
