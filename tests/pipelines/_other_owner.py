"""Another owner, in a process of its own, so that nothing but its own work delays it: for each line of standard input
it hands in a small file, waits until that is done, and writes how many seconds it took. The end is the one that the
database has noted: looking for it takes steps of 0.05 s, which is as long as the whole of an undisturbed file.

    python -m tests.pipelines._other_owner DSN FOLDER    FOLDER: that of the store
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from forebay.intake.db import FileTerms, NewFile
from forebay.intake.local_files import LocalFile, submit_file
from forebay.pipelines.sheets.files import FILES as SHEETS
from forebay.settings import Settings
from forebay.storage import Store, open_store
from tests.crash._rig import Watch

_FILE = b"Name,SKU\nPen,1\nInk,2\n"


class OtherOwner:
    """The process, as the test sees it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def wait_for_one(self) -> float:
        """How many seconds one file takes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"\n")
        return float(await self._process.stdout.readline())

    async def waits(self, count: int) -> list[float]:
        return sorted([await self.wait_for_one() for _ in range(count)])


@asynccontextmanager
async def other_owner(dsn: str, folder: Path) -> AsyncIterator[OtherOwner]:
    command = [sys.executable, "-m", __name__, dsn, str(folder)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield OtherOwner(process)
    finally:
        process.kill()
        await process.wait()


async def _main(dsn: str, folder: str) -> None:
    store = open_store(Settings(data_dir=Path(folder)))
    async with Watch(dsn) as watch:
        while await asyncio.to_thread(sys.stdin.readline):
            began = time.time()  # the clock that the database has, too
            sys.stdout.write(f"{await _hand_in(watch, store) - began}\n")
            sys.stdout.flush()


async def _hand_in(watch: Watch, store: Store) -> float:
    """When the file was done."""
    new = LocalFile(NewFile("small.csv", len(_FILE)), _FILE)
    added = await submit_file(SHEETS, await watch.conn(), store, "bob", new, FileTerms())
    await watch.done([added.job_id], seconds=900)
    return float(await watch.one("select extract(epoch from finished_at) from forebay.job where id = $1", added.job_id))


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
