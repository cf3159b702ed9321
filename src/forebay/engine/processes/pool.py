"""Runs process steps in child processes that are reused, limited, and killed with all their descendants."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.engine.processes.child_process import ChildProcess, NotStartedError
from forebay.engine.processes.protocol import BrokenProtocol, EncodedCall, Overrun, decode_answer
from forebay.errors import DataError, TransientError
from forebay.runner import frames

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Sequence
    from pathlib import Path

    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import Callee
    from forebay.runner.availability import Mode

_REMEMBERED = 10_000  # maximum number of remembered overruns
_SMALL = 1 << 16  # bytes that are decoded on the event loop; more would block it
_JUST_USED_S = 5.0  # seconds for which the last idle child is left to the owner who used it
REPEATED_FROM = 3  # attempt number from which on an overrun cannot be the first


class ProcessPool:
    """Runs process steps, one task at a time per child process; idle children are reused for tasks of the same step.

    The pool has as many children as its caller runs tasks, and one more for a step that several owners use: an owner
    whose tasks run in children does not take the last idle child of another, nor does any owner take one that another
    has just used. `keep_idle` children may be idle indefinitely, the others for `idle_seconds`. A child is replaced
    after `max_tasks`, or somewhat earlier, when the next one is ready: no task waits for that. Every child imports
    `app_modules`. A pool belongs to one event loop, whose thread must outlive the tasks.
    """

    def __init__(
        self,
        app_modules: Sequence[str] = (),
        *,
        keep_idle: int = 2,
        idle_seconds: float = 60.0,
        max_tasks: int = 200,
        max_bytes: int = 256 << 20,
        start_seconds: float = 60.0,
        sandbox: Mode = "preferred",
    ) -> None:
        self._app_modules = tuple(app_modules)
        self._keep_idle = keep_idle
        self._idle_seconds = idle_seconds
        self._max_tasks = max_tasks
        self._replaced_from = max_tasks - max_tasks // 4
        self._max_bytes = max_bytes
        self._start_seconds = start_seconds
        self._mode: Mode = sandbox
        self._overran: dict[tuple[str, str], None] = {}
        self._idle: list[ChildProcess] = []  # the longest idle first
        self._busy: set[ChildProcess] = set()
        self._replacing: dict[ChildProcess, asyncio.Task[None]] = {}  # the start of the next one, by child
        self._ending: set[asyncio.Task[None]] = set()
        self._retiring: asyncio.TimerHandle | None = None
        self._closed = False

    async def run(
        self, callee: Callee, ctx: Context, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call the function of a process step, or a limited function, and return its result.

        Raises: what the function raises; TransientError if its process dies, or exceeds its time or memory limit;
            DataError if a limited function does so repeatedly for the same item, or if the input or the result cannot
            be
            sent; ConfigError if the process cannot import the function or the required sandbox is not available.
        """
        call = EncodedCall(callee, ctx, args, kwargs or {}, self._max_bytes)
        try:
            while True:
                child = self._take(callee, ctx.owner_id, call.inputs)
                try:
                    return await self._attempt(child, callee, ctx, call)
                except NotStartedError:
                    continue  # it died while idle: the task did not cause this and has not started
        except Overrun as error:
            raise self._classify_overrun(callee, ctx, error) from None

    def _classify_overrun(self, callee: Callee, ctx: Context, error: Overrun) -> TransientError | DataError:
        """Classify an overrun: the first may be due to a busy machine; the second is a fault of the file."""
        if callee.takes_context:
            return TransientError(str(error))
        key = (callee.label, ctx.key)
        if key in self._overran or ctx.attempt >= REPEATED_FROM:
            self._overran.pop(key, None)
            return DataError(f"{error}, and did so before: the file is too large or too complex")
        self._overran[key] = None
        while len(self._overran) > _REMEMBERED:
            del self._overran[next(iter(self._overran))]
        return TransientError(str(error))

    async def close(self) -> None:
        """End all children: idle ones may clean up, running ones are killed."""
        self._closed = True
        if self._retiring is not None:
            self._retiring.cancel()
        for start in self._replacing.values():
            start.cancel()
        idle, self._idle = self._idle, []
        for child in idle:
            self._in_background(child.retire())
        for child in list(self._busy):
            self._in_background(child.kill())
        while self._ending:
            await asyncio.wait(self._ending)

    def _take(self, callee: Callee, owner_id: int, files: Sequence[Path]) -> ChildProcess:
        if self._closed:
            raise RuntimeError("the process pool is closed")
        for ended in [child for child in self._idle if child.has_ended]:
            self._idle.remove(ended)
            self._in_background(ended.kill())  # closes its connection
        child = self._choose(callee, owner_id, files)
        if child is None:
            child = ChildProcess(callee, self._max_bytes, self._mode)
        else:
            self._idle.remove(child)
        child.owner_id = owner_id
        self._busy.add(child)
        return child

    def _choose(self, callee: Callee, owner_id: int, files: Sequence[Path]) -> ChildProcess | None:
        """An idle child: preferably of the same owner, and with the files of the call; the last used one of several.
        The last idle child of other owners is left to them while this owner has another or they use it often, because
        a process takes long to start where owners with many tasks use all processors. An owner whose files end
        processes would otherwise make others wait for new ones."""
        idle = [child for child in reversed(self._idle) if _are_alike(child.callee, callee)]
        own = [child for child in idle if child.owner_id == owner_id]
        if not own and len(idle) == 1 and (self._has_busy_child(callee, owner_id) or _was_just_used(idle[0])):
            return None
        found = own or idle
        return next((child for child in found if child.has_files(files)), found[0] if found else None)

    def _has_busy_child(self, callee: Callee, owner_id: int) -> bool:
        return any(child.owner_id == owner_id and _are_alike(child.callee, callee) for child in self._busy)

    async def _attempt(self, child: ChildProcess, callee: Callee, ctx: Context, call: EncodedCall) -> Any:
        try:
            if not child.is_ready:
                await self._start(child)
            async with _at_most(callee.timeout, "timed out after"):
                kind, answer = await child.call(ctx, call)
            if len(answer) > _SMALL:
                returned = await asyncio.to_thread(_CallResult.of, callee, kind, answer)
            else:
                returned = _CallResult.of(callee, kind, answer)
        except BaseException:
            self._busy.discard(child)
            # Shielded: a second cancellation does not wait, and the child is still killed and reaped.
            await asyncio.shield(self._in_background(child.kill()))
            raise
        self._release(child, reusable=kind not in (frames.OUT_OF_MEMORY, frames.OVERRUN))
        return returned.get()

    def _release(self, child: ChildProcess, *, reusable: bool) -> None:
        self._busy.discard(child)
        if self._closed or not reusable or child.is_replaced or child.tasks >= self._max_tasks:
            self._in_background(child.retire())
            return
        self._add_idle(child)
        if child.tasks >= self._replaced_from and child not in self._replacing:
            self._replacing[child] = self._in_background(self._replace(child))

    def _add_idle(self, child: ChildProcess) -> None:
        child.idle_since = asyncio.get_running_loop().time()
        self._idle.append(child)
        self._plan_retirement()

    async def _start(self, child: ChildProcess) -> None:
        async with _at_most(self._start_seconds, "the step's process was not ready after"):
            await child.start(self._app_modules)

    async def _replace(self, child: ChildProcess) -> None:
        """Start the next child while this one goes on. If that fails, the first task that needs one will say why."""
        successor = ChildProcess(child.callee, self._max_bytes, self._mode)
        try:
            await self._start(successor)
            successor.owner_id = child.owner_id
            successor.rest()
            self._add_idle(successor)
            if child in self._idle:
                self._idle.remove(child)
                self._in_background(child.retire())
            else:
                child.is_replaced = True
        except BaseException as error:
            await successor.kill()
            if not isinstance(error, Exception):
                raise
        finally:
            del self._replacing[child]

    def _plan_retirement(self) -> None:
        if self._retiring is None and len(self._idle) > self._keep_idle:
            due = self._idle[0].idle_since + self._idle_seconds
            self._retiring = asyncio.get_running_loop().call_at(due, self._retire_idle)

    def _retire_idle(self) -> None:
        self._retiring = None
        expired = asyncio.get_running_loop().time() - self._idle_seconds
        while len(self._idle) > self._keep_idle and self._idle[0].idle_since <= expired:
            self._in_background(self._idle.pop(0).retire())
        self._plan_retirement()

    def _in_background(self, end: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(end)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task


@dataclass(frozen=True)
class _CallResult:
    """What a call returned or raised."""

    value: Any = None
    error: Exception | None = None

    @classmethod
    def of(cls, callee: Callee, kind: bytes, answer: bytes) -> _CallResult:
        """Raises: BrokenProtocol, after which the child must not be reused."""
        try:
            return cls(decode_answer(callee, kind, answer))
        except BrokenProtocol:
            raise
        except Exception as error:  # raised by the function
            return cls(error=error)

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


@contextlib.asynccontextmanager
async def _at_most(seconds: float | None, text: str) -> AsyncGenerator[None]:
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if not deadline.expired():
            raise
        raise Overrun(f"{text} {seconds:g} s") from None


def _was_just_used(child: ChildProcess) -> bool:
    return asyncio.get_running_loop().time() - child.idle_since < _JUST_USED_S


def _are_alike(one: Callee, other: Callee) -> bool:
    """Whether one child can serve both: a function that is declared twice needs no second process."""
    if one is other:
        return True
    limits = [
        (callee.fn, callee.label, callee.memory_mb, callee.timeout, callee.process_limits) for callee in (one, other)
    ]
    return one.takes_context == other.takes_context and limits[0] == limits[1]
