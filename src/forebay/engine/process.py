"""Process steps: run in child processes that are kept, limited, and killed with all that they started."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import structlog

from forebay.engine import child as wire
from forebay.errors import (
    ConfigError,
    DataError,
    PermanentError,
    ResourceError,
    StepError,
    ThrottledError,
    TransientError,
)
from forebay.types import ErrorClass

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Sequence

    from forebay.engine.context import Context
    from forebay.engine.pipeline import Step

_log: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)

_GUARD = Path(__file__).with_name("guard.py")
_STREAM_BUFFER = 1 << 20
_TAIL = 8192  # bytes of output that are kept
_PATIENCE = 5.0  # seconds for a process to end by itself, or to be gone once it was killed
_CANCEL_POLL = 0.5  # seconds until a running step hears that its task was cancelled


class ProcessPool:
    """Runs process steps, one task at a time in a child; children are kept for the next tasks of their step.

    The pool has as many children as its caller runs tasks. `keep_idle` of them may wait forever, the others
    for `idle_seconds`; after `max_tasks` a child is replaced. `app_modules` are imported by every child.
    Belongs to one event loop, whose thread must outlive the tasks.
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
    ) -> None:
        self._app_modules = tuple(app_modules)
        self._keep_idle = keep_idle
        self._idle_seconds = idle_seconds
        self._max_tasks = max_tasks
        self._max_bytes = max_bytes
        self._start_seconds = start_seconds
        self._idle: list[_Child] = []  # the longest idle first
        self._busy: set[_Child] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._retiring: asyncio.TimerHandle | None = None
        self._closed = False

    async def run(self, step: Step[Any, Any], ctx: Context, args: tuple[Any, ...]) -> Any:
        """What the step's function returns for `ctx` and `args`.

        Raises: what the function raises; TransientError when its process dies, or runs over its time or
            memory; DataError when the input or the result cannot be sent; ConfigError when the process cannot
            import it.
        """
        body = _pickled_call(step, ctx, args, self._max_bytes)
        while True:
            child = self._take(step)
            try:
                kind, answer = await self._attempt(child, ctx, body)
            except _NotStartedError:
                continue  # it died while it was idle: this task is not to blame, and nothing of it has run
            return _outcome(step, kind, answer)

    async def close(self) -> None:
        """End all children: the idle ones may clean up, running ones are killed."""
        self._closed = True
        if self._retiring is not None:
            self._retiring.cancel()
        idle, self._idle = self._idle, []
        for child in idle:
            self._in_background(child.retire())
        for child in list(self._busy):
            self._in_background(child.kill())
        while self._ending:
            await asyncio.wait(self._ending)

    def _take(self, step: Step[Any, Any]) -> _Child:
        if self._closed:
            raise RuntimeError("the process pool is closed")
        self._idle = [child for child in self._idle if not child.ended.is_set()]
        child = next((child for child in reversed(self._idle) if child.step is step), None)
        if child is None:
            child = _Child(step, self._max_bytes)
        else:
            self._idle.remove(child)
        self._busy.add(child)
        return child

    async def _attempt(self, child: _Child, ctx: Context, body: bytes) -> tuple[bytes, bytes]:
        try:
            if child.tasks == 0:
                async with _at_most(self._start_seconds, "the step's process was not ready after"):
                    await child.start(self._app_modules)
            async with _at_most(child.step.timeout, "timed out after"):
                kind, answer = await child.call(ctx, body)
        except BaseException:
            self._busy.discard(child)
            # Shielded: whoever cancels twice does not wait, and the child is still buried.
            await asyncio.shield(self._in_background(child.kill()))
            raise
        self._give_back(child, reusable=kind != wire.OUT_OF_MEMORY)
        return kind, answer

    def _give_back(self, child: _Child, *, reusable: bool) -> None:
        self._busy.discard(child)
        if self._closed or not reusable or child.tasks >= self._max_tasks:
            self._in_background(child.retire())
            return
        child.idle_since = asyncio.get_running_loop().time()
        self._idle.append(child)
        self._plan_retirement()

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


@contextlib.asynccontextmanager
async def _at_most(seconds: float | None, text: str) -> AsyncGenerator[None]:
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if not deadline.expired():
            raise
        raise TransientError(f"{text} {seconds:g} s") from None


class _NotStartedError(Exception):
    """A reused child was gone before it began with the task."""


class _Child:
    """One child with its guard, seen from the pool."""

    def __init__(self, step: Step[Any, Any], max_bytes: int) -> None:
        self.step = step
        self.tasks = 0
        self.idle_since = 0.0
        self.ended = asyncio.Event()
        self._max_bytes = max_bytes
        self._output = b""
        self._report = ""
        self._opening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._cancel_poll: asyncio.TimerHandle | None = None

    async def start(self, app_modules: Sequence[str]) -> None:
        """Start the process and wait until it has imported its step."""
        # Shielded, because a process that is started halfway could not be ended.
        self._opening = asyncio.get_running_loop().create_task(self._open())
        await asyncio.shield(self._opening)
        self._order(b"r")
        hello = _hello(self.step, app_modules, self._max_bytes)
        self._send(wire.HELLO, json.dumps(asdict(hello)).encode())
        kind, body = await self._frame()
        if kind == wire.OUT_OF_MEMORY:
            raise _out_of_memory(self.step)
        if kind != wire.READY:
            raise _load_error(self.step, body)

    async def call(self, ctx: Context, body: bytes) -> tuple[bytes, bytes]:
        """Run one task; gives back the frame that ends it."""
        self.tasks, self._output = self.tasks + 1, b""
        self._order(b"r")
        self._send(wire.CALL, body)
        self._poll_cancellation(ctx)
        try:
            await self._started()
            while True:
                kind, answer = await self._frame()
                if kind != wire.PROGRESS:
                    self._order(b"i")
                    self._log_output()
                    return kind, answer
                ctx.progress(*_loads(answer))
        finally:
            if self._cancel_poll is not None:
                self._cancel_poll.cancel()

    async def retire(self) -> None:
        """Let the process end by itself, and kill it when it does not."""
        if self._watching is not None:
            self._out.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await self.ended.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill the process and all that it started; returns when they are gone."""
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._watching is None:
            return
        with contextlib.suppress(RuntimeError):  # the guard is gone already
            self._control.write_eof()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self.ended.wait()
        except TimeoutError:  # stuck in the kernel; the guard goes on trying
            _log.warning("step_process_stuck", step=self._name, guard=self._guard.pid)

    @property
    def _name(self) -> str:
        return f"{self.step.pipeline.name}.{self.step.name}"

    async def _open(self) -> None:
        control, data = self._spawn()
        loop = asyncio.get_running_loop()
        self._control_in, self._control = await asyncio.open_unix_connection(sock=control)
        self._in, self._out = await asyncio.open_unix_connection(sock=data, limit=_STREAM_BUFFER)
        loop.add_reader(self._output_fd, self._read_output)
        self._watching = loop.create_task(self._watch())

    def _spawn(self) -> tuple[socket.socket, socket.socket]:
        """Start the guard; on the loop's thread, because the kernel tells the guard when that thread ends."""
        with contextlib.ExitStack() as ours_on_error, contextlib.ExitStack() as theirs:
            control, guards_control = _pair(ours_on_error, theirs)
            data, childs_data = _pair(ours_on_error, theirs)
            self._output_fd, output = os.pipe()
            os.set_blocking(self._output_fd, False)
            theirs.callback(os.close, output)
            ours_on_error.callback(os.close, self._output_fd)
            handed = (guards_control.fileno(), childs_data.fileno())
            self._guard = subprocess.Popen(
                [sys.executable, "-P", str(_GUARD), *map(str, (*handed, os.getpid(), self.step.memory_mb))],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=handed,
                start_new_session=True,
            )
            ours_on_error.pop_all()
        return control, data

    def _order(self, what: bytes) -> None:
        with contextlib.suppress(RuntimeError):  # the guard is gone, as reading the answer will tell
            self._control.write(what)

    def _send(self, kind: bytes, body: bytes) -> None:
        # Not drained: the frame is in memory anyway, and reading the answer tells of a broken connection.
        with contextlib.suppress(RuntimeError):
            self._out.write(wire.HEAD.pack(kind, len(body)))
            self._out.write(body)

    async def _started(self) -> None:
        try:
            await self._frame()
        except TransientError:
            if self.tasks > 1:
                raise _NotStartedError from None
            raise

    async def _frame(self) -> tuple[bytes, bytes]:
        try:
            kind, size = wire.HEAD.unpack(await self._in.readexactly(wire.HEAD.size))
            return kind, await self._in.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise TransientError(await self._cause_of_death()) from None

    def _poll_cancellation(self, ctx: Context) -> None:
        if ctx.cancelled:
            self._send(wire.CANCEL, b"")
        else:
            loop = asyncio.get_running_loop()
            self._cancel_poll = loop.call_later(_CANCEL_POLL, self._poll_cancellation, ctx)

    async def _watch(self) -> None:
        """Wait for the guard's last word, then clean up."""
        with contextlib.suppress(ConnectionError):
            self._report = (await self._control_in.read()).decode().strip()
        if not self._report:
            _kill_session(self._guard.pid)
        while self._guard.poll() is None:  # noqa: ASYNC110 - on its way out; the same on every event loop
            await asyncio.sleep(0.001)
        asyncio.get_running_loop().remove_reader(self._output_fd)
        self._read_output()
        os.close(self._output_fd)
        self._control.close()
        self._out.close()
        self.ended.set()

    def _read_output(self) -> None:
        with contextlib.suppress(BlockingIOError):
            read = os.read(self._output_fd, 1 << 16)  # as much as a pipe holds
            if not read:
                asyncio.get_running_loop().remove_reader(self._output_fd)
            self._output = (self._output + read)[-_TAIL:]

    def _log_output(self) -> None:
        if self._output:
            _log.debug("step_printed", step=self._name, tail=self._output.decode(errors="replace"))

    async def _cause_of_death(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self.ended.wait()
        text = self._output.decode(errors="replace")
        _log.warning("step_process_died", step=self._name, how=self._report, tail=text)
        how, _, number = self._report.partition(" ")
        if how == "memory":
            return str(_out_of_memory(self.step))
        if how == "signal":
            return f"the step's process was killed by {signal.Signals(int(number)).name}"
        if how == "exit":
            last = text.strip().rpartition("\n")[2].strip()
            return f"the step's process ended with exit status {number}" + (f": {last}" if last else "")
        return "the connection to the step's process was lost"


def _pair(
    ours_on_error: contextlib.ExitStack, theirs: contextlib.ExitStack
) -> tuple[socket.socket, socket.socket]:
    ours, other = socket.socketpair()
    ours_on_error.callback(ours.close)
    theirs.callback(other.close)
    return ours, other


def _kill_session(sid: int) -> None:
    """Kill what a killed guard has left behind; it is not reaped yet, so that its number is not reused."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_bytes().rpartition(b")")[2].split()[3]) == sid:
                os.kill(int(stat.parent.name), signal.SIGKILL)


def _hello(step: Step[Any, Any], app_modules: Sequence[str], max_bytes: int) -> wire.Hello:
    name = step.fn.__module__
    module = sys.modules.get(name)
    return wire.Hello(
        path=[entry or str(Path.cwd()) for entry in sys.path],
        app_modules=list(app_modules),
        module=name,
        package=getattr(module, "__package__", None),
        file=getattr(module, "__file__", None),
        qualname=step.fn.__qualname__,
        pipeline=step.pipeline.name,
        step=step.name,
        max_bytes=max_bytes,
    )


def _pickled_call(step: Step[Any, Any], ctx: Context, args: tuple[Any, ...], max_bytes: int) -> bytes:
    call = wire.Call(wire.knowledge(ctx), args)
    try:
        body = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise DataError(f"{_named(step)}: its input cannot be sent to its process: {error}") from error
    if len(body) > max_bytes:
        raise DataError(
            f"{_named(step)}: its input has {len(body)} bytes; at most {max_bytes} can be sent to its process"
        )
    return body


def _outcome(step: Step[Any, Any], kind: bytes, answer: bytes) -> Any:
    if kind == wire.OUT_OF_MEMORY:
        raise _out_of_memory(step)
    if kind == wire.UNSENDABLE:
        raise DataError(f"{_named(step)}: {answer.decode(errors='replace')}")
    if kind == wire.ERROR:
        raise _raised(_loads(answer))
    try:
        return _loads(answer)
    except Exception as error:
        raise DataError(
            f"{_named(step)}: its result cannot be read: {type(error).__name__}: {error}"
        ) from error


def _raised(failure: wire.Failure) -> Exception:
    error = _travelled(failure) or _substitute(failure)
    error.add_note(f"in the step's process:\n{failure.trace}")
    return error


def _travelled(failure: wire.Failure) -> Exception | None:
    if failure.pickled is None:
        return None
    with contextlib.suppress(Exception):  # its class is not here, or takes other arguments than it keeps
        error = _loads(failure.pickled)
        return error if isinstance(error, Exception) else None
    return None


_SUBSTITUTES: dict[ErrorClass, type[StepError]] = {
    kind.error_class: kind for kind in (TransientError, PermanentError, DataError, ConfigError, ResourceError)
}


def _substitute(failure: wire.Failure) -> StepError:
    """An error of the same class for one that cannot leave its process."""
    if failure.retry_after is not None:
        return ThrottledError(failure.text, retry_after=failure.retry_after)
    return _SUBSTITUTES.get(ErrorClass(failure.error_class), TransientError)(failure.text)


def _load_error(step: Step[Any, Any], body: bytes) -> Exception:
    failure = cast("wire.Failure", _loads(body))
    error = ConfigError(f"{_named(step)} cannot be loaded in its process: {failure.text}")
    error.add_note(failure.trace)
    return error


def _out_of_memory(step: Step[Any, Any]) -> TransientError:
    return TransientError(f"needed more than {step.memory_mb} MB of memory")


def _named(step: Step[Any, Any]) -> str:
    return f"step {step.pipeline.name}.{step.name}"


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        return super().find_class("__main__" if module_name == wire.MAIN_ALIAS else module_name, global_name)


def _loads(data: bytes) -> Any:
    return _Unpickler(BytesIO(data)).load()
