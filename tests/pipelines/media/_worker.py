"""A worker of media in a process that a test kills: `python -m tests.pipelines.media._worker DSN FOLDER`.

It transcribes what has subtitles.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from forebay.pipelines.media.settings import MediaSettings
from tests.pipelines.media._bed import media_bed


async def work(dsn: str, folder: Path) -> None:
    async with media_bed(dsn, folder, packages=[MediaSettings()]) as bed:
        await bed.bed.finish()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
