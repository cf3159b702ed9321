"""Batches that linger: a slot waits a while for a fuller batch before it calls the step."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.engine.declare.step import Step
    from forebay.engine.work.task_queue import TaskQueue


class BatchFilling:
    """The wait for a fuller batch of one step. The tasks stay in the queue meanwhile, where they can be dropped."""

    def __init__(self, step: Step[Any, Any], queue: TaskQueue, on_capacity: Callable[[], None]) -> None:
        self._size = step.batch_size or 1
        self._linger = step.linger
        self._queue = queue
        self._on_capacity = on_capacity
        self._news: asyncio.Event | None = None  # set when tasks come, while a slot waits

    @property
    def is_due(self) -> bool:
        """Whether the tasks in the queue wait for a fuller batch."""
        return self._linger > 0 and 0 < self._queue.size < self._size

    @property
    def missing(self) -> int:
        """How many tasks a full batch needs in addition to those in the queue."""
        return self._size - self._queue.size

    def note_tasks(self) -> None:
        """Let the slot that waits look at the queue."""
        if self._news is not None:
            self._news.set()

    async def wait(self) -> bool:
        """Wait until the queue has a full batch, or has waited long enough; False if another slot waits already."""
        if self._news is not None:
            return False
        self._news = asyncio.Event()
        self._on_capacity()
        try:
            async with asyncio.timeout(self._linger):
                while self.is_due:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            pass
        finally:
            self._news = None
        return True

    def describe(self) -> dict[str, Any] | None:
        """What is waited for; None if nothing is."""
        return {"size": self._size, "seconds": self._linger} if self._news is not None else None
