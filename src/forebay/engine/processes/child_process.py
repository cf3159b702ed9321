"""One child process of a pool, with its guard, as the pool sees it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import socket
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.engine.processes import child as steps
from forebay.engine.processes.protocol import BrokenProtocol, Overrun, load_error, out_of_memory
from forebay.errors import TransientError
from forebay.log import get_logger
from forebay.runner import frames, progress
from forebay.runner.availability import sandbox_for
from forebay.runner.files import place
from forebay.runner.process import GuardedCommand, GuardedProcess, describe_overrun, signal_name
from forebay.runner.python import python_command
from forebay.runner.spec import INPUTS, ResourceLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import Callee
    from forebay.engine.processes.protocol import EncodedCall
    from forebay.runner.availability import Mode
    from forebay.runner.spec import Sandbox

_log = get_logger("processes")

_STREAM_BUFFER = 1 << 20
_EXIT_TIMEOUT = 5.0  # seconds that a process gets to exit
_CANCEL_POLL = 0.5  # seconds between checks whether the task was cancelled
_PROGRESS_PAUSE = 0.001  # seconds; slows down a child that sends too many reports, not the other tasks
_CPU_BY_TIME = 4.0  # CPU seconds per second of the time limit: parsers use several cores
_LEAST_CPU = 60.0  # the start needs CPU time, too
_PROCESSES = 512  # including threads
_OPEN_FILES = 1024
_KINDS = (
    frames.READY, frames.UNREADY, frames.STARTED, frames.PROGRESS,
    frames.RESULT, frames.UNSENDABLE, frames.ERROR, frames.OUT_OF_MEMORY, frames.OVERRUN,
)  # fmt: skip


class NotStartedError(Exception):
    """A reused child had ended before it started the task."""


class ChildProcess:
    """One child process and its guard."""

    def __init__(self, callee: Callee, max_bytes: int, mode: Mode) -> None:
        self.callee = callee
        self.tasks = 0
        self.is_ready = False  # it has imported its function
        self.is_replaced = False  # another one is ready in its place
        self.owner_id = 0  # of its current or last task
        self.idle_since = 0.0  # event loop time; 0: never
        self._max_bytes = max_bytes
        self._mode: Mode = mode
        self._process: GuardedProcess | None = None
        self._opening: asyncio.Task[GuardedProcess] | None = None
        self._placed: dict[Path, tuple[tuple[int, ...], str]] = {}
        self._names = itertools.count()  # names of files in its inbox
        self._cancel_poll: asyncio.TimerHandle | None = None

    @property
    def has_ended(self) -> bool:
        return self._process is not None and self._process.ended.is_set()

    def has_files(self, files: Sequence[Path]) -> bool:
        """Whether these files are placed for it already."""
        return all(path in self._placed for path in files)

    async def start(self, app_modules: Sequence[str]) -> None:
        """Start the process and wait until it has imported its function."""
        # Shielded, because a process that is only partly started could not be stopped.
        self._opening = asyncio.get_running_loop().create_task(self._open())
        process = await asyncio.shield(self._opening)
        process.send_order(b"s")
        hello = _hello(self.callee, app_modules, self._max_bytes)
        self._send(frames.HELLO, json.dumps(asdict(hello)).encode())
        kind, body = await self._frame()
        if kind == frames.OUT_OF_MEMORY:
            raise out_of_memory(self.callee)
        if kind != frames.READY:
            raise load_error(self.callee, body)
        self.is_ready = True

    def rest(self) -> None:
        """Tell the guard that no task runs yet."""
        self._running().send_order(b"i")

    async def call(self, ctx: Context, call: EncodedCall) -> tuple[bytes, bytes]:
        """Run one task; return the frame that ends it."""
        process = self._running()
        self.tasks += 1
        process.forget_output()
        process.send_order(b"r")
        if call.inputs or call.outputs or self._placed:
            await self._place_files(call)
        self._send(frames.CALL, call.body)
        self._poll_cancellation(ctx)
        try:
            await self._started()
            while True:
                kind, answer = await self._frame()
                if kind != frames.PROGRESS:
                    process.send_order(b"i")
                    self._log_output()
                    return kind, answer
                self._note(ctx, answer)
                await asyncio.sleep(_PROGRESS_PAUSE)
        finally:
            if self._cancel_poll is not None:
                self._cancel_poll.cancel()
            if self.callee.process_limits.releases_files:
                self._remove_files(set(self._placed))
            if process.uid is not None:
                for path in call.outputs:
                    os.chown(path, os.geteuid(), os.getegid())

    async def retire(self) -> None:
        """Let the process exit; kill it if it does not."""
        if self._process is not None:
            self._out.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EXIT_TIMEOUT):
                    await self._process.ended.wait()
        await self.kill()

    async def kill(self) -> None:
        """Kill the process and all its descendants; return when they have ended."""
        if self._opening is not None:
            await asyncio.wait([self._opening])
        if self._process is not None:
            await self._process.kill()
            self._out.close()
            self._files.close()

    def _running(self) -> GuardedProcess:
        if self._process is None:
            raise RuntimeError("the child was not started")
        return self._process

    async def _open(self) -> GuardedProcess:
        sandbox = await self._sandbox()
        process = GuardedProcess(self._command(sandbox))
        process.start()
        self._process = process
        data, self._files = process.sockets
        self._files.setblocking(False)
        self._in, self._out = await asyncio.open_unix_connection(sock=data, limit=_STREAM_BUFFER)
        return process

    async def _sandbox(self) -> Sandbox | None:
        if not self.callee.process_limits.sandbox:
            return None
        # On a thread: the first call determines what this machine allows.
        found = await asyncio.to_thread(
            sandbox_for, self._mode, self.callee.title, scratch_mb=self.callee.process_limits.scratch_mb
        )
        file = getattr(sys.modules.get(self.callee.fn.__module__), "__file__", None)
        if found is None or file is None:
            return found
        if any(Path(file).is_relative_to(target) for _, _, target in found.mounts):
            return found
        return replace(found, mounts=[*found.mounts, ("read", file, file)])

    def _command(self, sandbox: Sandbox | None) -> GuardedCommand:
        callee = self.callee
        trusted = not callee.process_limits.sandbox
        return GuardedCommand(
            callee.label,
            ResourceLimits(
                callee.memory_mb,
                cpu_s=None if callee.timeout is None else max(_LEAST_CPU, callee.timeout * _CPU_BY_TIME),
                file_mb=callee.process_limits.file_mb,
                processes=_PROCESSES,
                open_files=None if trusted else _OPEN_FILES,
            ),
            module="forebay.runner.serving",
            sockets=2,
            sandbox=sandbox,
            environment=None if trusted else {},
            # With site packages if the child is not sandboxed: editable installations need their import finders.
            python=[sys.executable, "-P"] if sandbox is None else python_command(),
        )

    # -- files ----------------------------------------------------------------------------------------------------

    async def _place_files(self, call: EncodedCall) -> None:
        """Make the files of a call visible to the child, and remove those of the previous call."""
        inputs = [await self._placed_at(path) for path in call.inputs]
        self._remove_files(set(self._placed) - set(call.inputs))
        fields = {"inputs": inputs, "outputs": [str(path) for path in call.outputs]}
        if self._running().command.sandbox is None or not call.outputs:
            self._send(frames.FILES, json.dumps(fields).encode())
            return
        with contextlib.ExitStack() as stack:
            descriptors = [self._opened(path, stack) for path in call.outputs]
            self._send(frames.FILES, json.dumps(fields | {"outputs": len(descriptors)}).encode())
            socket.send_fds(self._files, [b"f"], descriptors)

    def _remove_files(self, paths: set[Path]) -> None:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):  # its guard has removed the folder
                os.unlink(self._running().inbox / self._placed.pop(path)[1])  # noqa: PTH108 - fast: a local file

    def _opened(self, path: Path, stack: contextlib.ExitStack) -> int:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        stack.callback(os.close, fd)
        if (uid := self._running().uid) is not None:
            os.fchown(fd, uid, uid)  # the child opens it by a name of its own
        return fd

    async def _placed_at(self, path: Path) -> str:
        """The path under which the child sees a file: a link or a copy, made once for consecutive calls that need
        it."""
        process = self._running()
        sandbox = process.command.sandbox
        if sandbox is None:
            return str(path)
        status = os.stat(path)  # noqa: PTH116 - fast
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        known = self._placed.get(path)
        if known is None or known[0] != version:
            # Never reuse a name: the file of the previous call is removed after this one is placed.
            name = known[1] if known else f"{next(self._names)}{path.suffix}"
            await asyncio.to_thread(place, path, process.inbox / name, other_account=process.uid is not None)
            self._placed[path] = (version, name)
        return f"{INPUTS if sandbox.is_isolated else process.inbox}/{self._placed[path][1]}"

    # -- frames ---------------------------------------------------------------------------------------------------

    def _send(self, kind: bytes, body: bytes) -> None:
        # Not drained: the frame is in memory anyway, and reading the answer detects a broken connection.
        with contextlib.suppress(RuntimeError):
            self._out.write(frames.HEAD.pack(kind, len(body)))
            self._out.write(body)

    async def _started(self) -> None:
        try:
            kind, _ = await self._frame()
        except TransientError:
            if self.idle_since > 0:  # it has been idle, and died then
                raise NotStartedError from None
            raise
        if kind != frames.STARTED:  # left over from a previous call
            raise NotStartedError

    async def _frame(self) -> tuple[bytes, bytes]:
        try:
            kind, size = frames.HEAD.unpack(await self._in.readexactly(frames.HEAD.size))
            most = self._max_bytes if kind == frames.RESULT else frames.SMALL
            if kind not in _KINDS or size > most:
                raise BrokenProtocol(f"{self.callee.title}: its process broke the protocol ({size} bytes of {kind!r})")
            return kind, await self._in.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise await self._cause_of_death() from None

    def _note(self, ctx: Context, body: bytes) -> None:
        try:
            fraction, note, done, total = progress.read(body)
        except (ValueError, TypeError) as error:
            raise BrokenProtocol(f"{self.callee.title}: its process broke the protocol: {error}") from error
        ctx.progress(fraction, note, bytes_done=done, bytes_total=total)

    def _poll_cancellation(self, ctx: Context) -> None:
        if ctx.cancelled:
            self._send(frames.CANCEL, b"")
        else:
            loop = asyncio.get_running_loop()
            self._cancel_poll = loop.call_later(_CANCEL_POLL, self._poll_cancellation, ctx)

    def _log_output(self) -> None:
        if said := self._running().output:
            _log.debug("step_printed", step=self.callee.label, tail=said)

    async def _cause_of_death(self) -> TransientError:
        process = self._running()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_TIMEOUT):
                await process.ended.wait()
        _log.warning("step_process_died", step=self.callee.label, how=process.end_reason, tail=process.output)
        if over := describe_overrun(process.end_reason, process.command.limits):
            return Overrun(over)
        how, _, number = process.end_reason.partition(" ")
        if how == "signal":
            return TransientError(f"the step's process was killed by {signal_name(number)}")
        if how == "exit":
            last = process.output.rpartition("\n")[2].strip()
            text = f"the step's process ended with exit status {number}"
            return TransientError(text + (f": {last}" if last else ""))
        return TransientError("the connection to the step's process was lost")


def _hello(callee: Callee, app_modules: Sequence[str], max_bytes: int) -> frames.Hello:
    name = callee.fn.__module__
    module = sys.modules.get(name)
    return frames.Hello(
        path=[entry or str(Path.cwd()) for entry in sys.path],
        prefix=sys.prefix,
        app_modules=list(app_modules),
        module=name,
        package=getattr(module, "__package__", None),
        file=getattr(module, "__file__", None),
        qualname=callee.fn.__qualname__,
        label=callee.label,
        max_bytes=max_bytes,
        adapter=steps.__name__ if callee.takes_context else "",
        keeps_threads=not callee.process_limits.sandbox,
    )
