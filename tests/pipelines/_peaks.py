"""How much memory a program and all that it starts have needed at most."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil


class Peaks:
    """The most megabytes that each process has held. The kernel counts them: looking seldom misses nothing but what
    begins and ends between two looks."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: dict[int, int] = {}

    @property
    def root(self) -> int:
        return self._seen[self._root]

    @property
    def children(self) -> int:
        return max((peak for pid, peak in self._seen.items() if pid != self._root), default=0)

    def __repr__(self) -> str:
        return f"{self.root} MB, its children {self.children} MB"

    def look(self) -> None:
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._root)
            for process in (root, *root.children(recursive=True)):
                with suppress(OSError):  # it has just ended
                    status = Path(f"/proc/{process.pid}/status").read_text()
                    _, has_memory, rest = status.partition("VmHWM:")  # a zombie has none
                    peak = int(rest.split(maxsplit=1)[0]) >> 10 if has_memory else 0
                    self._seen[process.pid] = max(peak, self._seen.get(process.pid, 0))


@asynccontextmanager
async def peaks_of(*roots: int) -> AsyncIterator[list[Peaks]]:
    """What these processes and their children need meanwhile."""
    seen = [Peaks(root) for root in roots]

    async def look_on() -> None:
        while True:
            for each in seen:
                each.look()
            await asyncio.sleep(0.1)

    looking = asyncio.create_task(look_on())
    try:
        yield seen
        for each in seen:
            each.look()
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
