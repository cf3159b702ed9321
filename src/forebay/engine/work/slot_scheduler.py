"""Round-robin scheduling of slots: those with many short tasks share the event loop with everything else.

A slot that has used up its time waits for its turn. One such slot resumes at a time, and between two of them the event
loop runs a few times without any: so a message, the response to a claim or a report is handled after the time of one
slot, however many slots have tasks. While new tasks of others are being claimed, that time is short.
"""

from __future__ import annotations

import asyncio
from collections import deque

# The event loop runs three times from a wake-up to the claim, and from the response to the start of the task.
_GAP = 3

SLICE_S = 0.002  # seconds after which a slot waits for its next turn
_SHORT_SLICE_S = 0.0005


class SlotScheduler:
    """The slots of all steps of a worker that wait for the event loop; the steps take turns."""

    def __init__(self) -> None:
        self._lines: dict[int, deque[asyncio.Future[None]]] = {}  # by step, the next one first
        self._gap = 0  # iterations of the event loop until the next slot resumes
        self._is_running = False
        self.last: asyncio.Task[None] | None = None  # the slot that began a task last
        self.slice_s = SLICE_S

    def shorten(self, *, is_short: bool) -> None:
        """Let slots run for a short time only, or for the usual time again."""
        self.slice_s = _SHORT_SLICE_S if is_short else SLICE_S

    async def wait(self, step_id: int) -> None:
        """Wait for a turn."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._lines.setdefault(step_id, deque()).append(turn)
        if not self._is_running:
            self._is_running, self._gap = True, _GAP
            loop.call_soon(self._run)
        await turn

    def _run(self) -> None:
        """Called once in each iteration of the event loop while a slot waits."""
        self._gap -= 1
        if self._gap <= 0:
            self._resume_next()
            self._gap = _GAP + 1  # the slot runs in the next iteration
        self._is_running = bool(self._lines)
        if self._is_running:
            asyncio.get_running_loop().call_soon(self._run)

    def _resume_next(self) -> None:
        while self._lines:
            step_id = next(iter(self._lines))
            line = self._lines.pop(step_id)
            turn = line.popleft()
            if line:
                self._lines[step_id] = line
            if not turn.done():  # its slot was cancelled
                turn.set_result(None)
                return
