"""Slices of work: a worker that runs until it is idle, or until some jobs have ended."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Coroutine, Iterable


class AwaitedJobs:
    """The jobs whose end ends a slice; without jobs, `wait` never returns."""

    def __init__(self, jobs: Collection[int] = ()) -> None:
        self._open = set(jobs)
        self._ended = asyncio.Event()

    def remove(self, jobs: Iterable[int]) -> None:
        """Record that this worker has ended these jobs."""
        if self._open:
            self._open.difference_update(jobs)
            if not self._open:
                self._ended.set()

    async def wait(self) -> None:
        """Wait until this worker has ended the last of the jobs."""
        await self._ended.wait()


async def wait_for_first(*waits: Coroutine[Any, Any, None]) -> None:
    """Wait until one of these returns or raises; the others are cancelled."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
