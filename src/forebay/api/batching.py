"""Calls that share a statement: those that come while others are on their way wait, and are sent together.

An idle service sends each call alone and at once. Under load many calls share one round trip and one commit.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import Context
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

C = TypeVar("C")
A = TypeVar("A")


class Batcher(Generic[C, A]):
    """Sends calls by `send`, which returns the answer to each: at most `at_once` batches of at most `most` calls.

    A call joins no batch that was sent before the call came, so that no answer is older than its call.
    """

    def __init__(self, send: Callable[[list[C]], Awaitable[Sequence[A]]], *, at_once: int, most: int) -> None:
        self._send = send
        self._most = most
        self._free = at_once
        self._waiting: deque[tuple[C, asyncio.Future[A]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def call(self, what: C) -> A:
        """The answer. Raises: what `send` raises."""
        if not self._free:
            answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
            self._waiting.append((what, answer))
            return await answer
        self._free -= 1
        try:
            return (await self._send([what]))[0]
        finally:
            self._go_on()

    def _go_on(self) -> None:
        """A batch has ended: the next one takes its place."""
        batch = self._next_batch()
        if not batch:
            self._free += 1
            return
        # In a context of its own: the batch belongs to no single request.
        task = asyncio.create_task(self._send_all(batch), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _next_batch(self) -> list[tuple[C, asyncio.Future[A]]]:
        batch: list[tuple[C, asyncio.Future[A]]] = []
        while self._waiting and len(batch) < self._most:
            what, answer = self._waiting.popleft()
            if not answer.done():  # nobody waits for it any more
                batch.append((what, answer))
        return batch

    async def _send_all(self, batch: list[tuple[C, asyncio.Future[A]]]) -> None:
        try:
            answers = await self._send([what for what, _ in batch])
        except asyncio.CancelledError:
            for _, answer in batch:
                answer.cancel()
            raise
        except Exception as error:
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
        else:
            for (_, answer), found in zip(batch, answers, strict=True):
                if not answer.done():
                    answer.set_result(found)
        finally:
            self._go_on()
