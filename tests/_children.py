"""Child processes of workers that are reused by the next test, as a running worker reuses them for the next task.

A child imports what its function needs, such as a page parser or a text recognition model, which takes a second of CPU
time or more. Only tests that share an event loop can share children.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from forebay.engine.processes.child_process import ChildProcess
from forebay.engine.processes.pool import ProcessPool

_idle_in: dict[asyncio.AbstractEventLoop, dict[str, list[ChildProcess]]] = {}


class SharedProcessPool(ProcessPool):
    """Takes over the idle children of the pool that was closed before it. Running children are killed on close."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._left = _idle_in.get(asyncio.get_running_loop(), {})
        self._idle = self._left.pop(self._mode, [])

    async def close(self) -> None:
        if self._left is _idle_in.get(asyncio.get_running_loop()):
            self._left.setdefault(self._mode, []).extend(self._idle)
            self._idle = []
        await super().close()


@asynccontextmanager
async def shared_children() -> AsyncIterator[None]:
    """Within the block, pools of this event loop keep their idle children for the next one. Then they are killed."""
    loop = asyncio.get_running_loop()
    _idle_in[loop] = {}
    try:
        yield
    finally:
        for children in _idle_in.pop(loop).values():
            for child in children:
                await child.kill()


def kept_for_others(processes: set[psutil.Process]) -> set[psutil.Process]:
    """Those of these processes that a test process keeps for the whole run: the database, and the browser of the tests
    of the web app, below the driver of Playwright."""
    kept: set[psutil.Process] = set()
    for process in processes:
        with suppress(psutil.Error):
            if process.name() == "postgres":
                kept.add(process)
            elif process.cmdline() and Path(process.cmdline()[0]).name == "node":
                kept |= {process, *process.children(recursive=True)}
    return kept
