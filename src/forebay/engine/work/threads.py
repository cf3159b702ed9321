"""Steps on threads. A thread cannot be stopped: a thread whose step was abandoned continues, and must not block
others."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from forebay.engine.declare.step import StepKind
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future

    from forebay.engine.declare.step import Step

log = get_logger("threads")


def threads_needed(steps: Iterable[Step[Any, Any]], reserve: int) -> int:
    """How many threads the steps of a worker can use at the same time, with `reserve` slots beyond the concurrency."""
    on_threads = [step.concurrency[1] + reserve for step in steps if step.kind is StepKind.THREAD]
    return max(1, sum(on_threads))


class Threads:
    """A thread pool; when half of its threads are stuck in abandoned calls, a new pool replaces it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._pool = self._new_pool()
        self._stuck: set[Future[Any]] = set()  # in this pool
        self._left_behind: set[Future[Any]] = set()  # in earlier ones

    def _new_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._most, thread_name_prefix="step")

    @property
    def stuck(self) -> int:
        """Threads that still run abandoned calls: the interpreter would wait for them at exit."""
        return sum(not running.done() for running in self._stuck | self._left_behind)

    async def run(self, fn: Callable[..., Any], *args: Any) -> Any:
        running = self._pool.submit(fn, *args)
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            if not running.cancel() and not running.done():
                self._give_up(running)
            raise

    def _give_up(self, running: Future[Any]) -> None:
        self._stuck = {one for one in self._stuck if not one.done()} | {running}
        if len(self._stuck) * 2 >= self._most:
            log.error("threads_stuck", threads=len(self._stuck))
            self._pool.shutdown(wait=False)  # queued calls still run on the remaining threads
            self._pool = self._new_pool()
            self._left_behind = {one for one in self._left_behind if not one.done()} | self._stuck
            self._stuck = set()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
