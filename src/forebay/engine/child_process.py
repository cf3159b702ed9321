"""One child process of a pool, with its guard, as the pool sees it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from forebay.engine import child as wire
from forebay.engine.parcel import load_error, loads, out_of_memory
from forebay.errors import TransientError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.context import Context
    from forebay.engine.limited import Callee

_log: structlog.typing.FilteringBoundLogger = structlog.get_logger(__name__)

_GUARD = Path(__file__).parents[1] / "guard.py"
_STREAM_BUFFER = 1 << 20
_TAIL = 8192  # bytes of output that are kept
_PATIENCE = 5.0  # seconds for a process to end by itself, or to be gone once it was killed
_CANCEL_POLL = 0.5  # seconds until a running step hears that its task was cancelled


class NotStartedError(Exception):
    """A reused child was gone before it began with the task."""


class ChildProcess:
    """One child with its guard, seen from the pool."""

    def __init__(self, callee: Callee, max_bytes: int) -> None:
        self.callee = callee
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
        hello = _hello(self.callee, app_modules, self._max_bytes)
        self._send(wire.HELLO, json.dumps(asdict(hello)).encode())
        kind, body = await self._frame()
        if kind == wire.OUT_OF_MEMORY:
            raise out_of_memory(self.callee)
        if kind != wire.READY:
            raise load_error(self.callee, body)

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
                fraction, note, done, total = loads(answer)
                ctx.progress(fraction, note, bytes_done=done, bytes_total=total)
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
        except TimeoutError:  # stuck in the kernel, or its guard was stopped
            _log.warning("step_process_stuck", step=self.callee.label, guard=self._guard.pid)
            _kill_session(self._guard.pid)

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
                [sys.executable, "-P", str(_GUARD), *self._guard_arguments(*handed)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=handed,
                start_new_session=True,
            )
            ours_on_error.pop_all()
        return control, data

    def _guard_arguments(self, control: int, data: int) -> list[str]:
        return [str(control), str(os.getpid()), str(self.callee.memory_mb), "serve", wire.__name__, str(data)]

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
                raise NotStartedError from None
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
            _log.debug("step_printed", step=self.callee.label, tail=self._output.decode(errors="replace"))

    async def _cause_of_death(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self.ended.wait()
        text = self._output.decode(errors="replace")
        _log.warning("step_process_died", step=self.callee.label, how=self._report, tail=text)
        how, _, number = self._report.partition(" ")
        if how == "memory":
            return str(out_of_memory(self.callee))
        if how == "signal":
            return f"the step's process was killed by {signal.Signals(int(number)).name}"
        if how == "exit":
            last = text.strip().rpartition("\n")[2].strip()
            return f"the step's process ended with exit status {number}" + (f": {last}" if last else "")
        return "the connection to the step's process was lost"


def _pair(ours_on_error: contextlib.ExitStack, theirs: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    ours, other = socket.socketpair()
    ours_on_error.callback(ours.close)
    theirs.callback(other.close)
    return ours, other


def _kill_session(sid: int) -> None:
    """Kill what a guard did not, and the guard; it is not reaped yet, so that its number is not reused."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_bytes().rpartition(b")")[2].split()[3]) == sid:
                os.kill(int(stat.parent.name), signal.SIGKILL)


def _hello(callee: Callee, app_modules: Sequence[str], max_bytes: int) -> wire.Hello:
    name = callee.fn.__module__
    module = sys.modules.get(name)
    return wire.Hello(
        path=[entry or str(Path.cwd()) for entry in sys.path],
        app_modules=list(app_modules),
        module=name,
        package=getattr(module, "__package__", None),
        file=getattr(module, "__file__", None),
        qualname=callee.fn.__qualname__,
        label=callee.label,
        max_bytes=max_bytes,
    )
