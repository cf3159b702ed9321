"""N worker processes under one supervisor, which replaces lost ones; none outlives it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import TypeAlias

from forebay.log import get_logger
from forebay.waits import Backoff

_log = get_logger("supervisor")

_LIFELINE = "FOREBAY_LIFELINE_FD"
_NUMBER = "FOREBAY_WORKER_NUMBER"
_REPORT = "FOREBAY_WORKER_ID_FD"
OWN_VARIABLES = frozenset({_LIFELINE, _NUMBER, _REPORT})
"""What a supervisor tells its processes; they are no settings."""
_HAND_BACK_SECONDS = 30.0
_HEALTHY_SECONDS = 60.0  # the backoff is reset after a process has lived this long

OnLost: TypeAlias = Callable[[int, int | None], Awaitable[None]]


class Supervisor:
    """Keeps `count` processes of `argv` running, each in a separate session, numbered from 1.

    `on_lost` is awaited with the pid of a process that exited with an error, and with the id that it passed to
    `report_worker_id` (None: it did not), before the process is replaced. The first
    SIGTERM or SIGINT is forwarded, and processes that are left after `grace` seconds are killed; a second signal kills
    them immediately (without `handle_signals`, only `stop` has this effect). A process that calls `watch_parent` ends
    when the supervisor dies. `pauses` are the first and the longest pause before a restart.
    """

    def __init__(
        self,
        argv: Sequence[str],
        count: int,
        *,
        grace: float = 30.0,
        on_lost: OnLost | None = None,
        env: Mapping[str, str] | None = None,
        pauses: tuple[float, float] = (0.5, 30.0),
        handle_signals: bool = True,
        what: str = "worker",
    ) -> None:
        self._argv = tuple(argv)
        self._count = count
        self._grace = grace
        self._on_lost = on_lost
        self._env = dict(os.environ if env is None else env)
        self._pauses = pauses
        self._handle_signals = handle_signals
        self._what = what  # name in the logs
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._stopping = asyncio.Event()
        self._stop_signal = signal.SIGTERM
        self._grace_timer: asyncio.TimerHandle | None = None
        self._killed = False
        self._clean = True

    async def run(self) -> int:
        """Supervise until stopped; return 0 if every process then exited without being killed."""
        lifeline, ours = os.pipe()
        try:
            with _signals_to(self.stop) if self._handle_signals else contextlib.nullcontext():
                async with asyncio.TaskGroup() as group:
                    for number in range(1, self._count + 1):
                        group.create_task(self._keep_running(number, lifeline))
        finally:
            if self._grace_timer is not None:
                self._grace_timer.cancel()
            os.close(ours)
            os.close(lifeline)
        return 0 if self._clean else 1

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Forward the signal once; kill the processes on the second call."""
        if self._stopping.is_set():
            self._kill_all()
            return
        _log.info("supervisor_stopping", signal=number.name, workers=len(self._running))
        self._stop_signal = number
        self._stopping.set()
        self._grace_timer = asyncio.get_running_loop().call_later(self._grace, self._kill_all)
        for process in self._running.values():
            _signal(process, number)

    async def _keep_running(self, number: int, lifeline: int) -> None:
        backoff = Backoff(*self._pauses)
        while not self._stopping.is_set():
            started = time.monotonic()
            try:
                await self._run_once(number, lifeline)
            except OSError as error:  # out of processes, memory or files: possibly temporary
                _log.error(f"{self._what}_not_started", worker=number, error=str(error))
            await self._pause(pause_after(time.monotonic() - started, backoff))

    async def _run_once(self, number: int, lifeline: int) -> None:
        reports, report = os.pipe()
        try:
            try:
                process = await self._start(number, lifeline, report)
            finally:
                os.close(report)
            await self._watch(number, process, reports)
        finally:
            os.close(reports)

    async def _start(self, number: int, lifeline: int, report: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._argv,
            env=self._env | {_NUMBER: str(number), _LIFELINE: str(lifeline), _REPORT: str(report)},
            pass_fds=(lifeline, report),
            start_new_session=True,
        )

    async def _watch(self, number: int, process: asyncio.subprocess.Process, reports: int) -> None:
        self._running[process.pid] = process
        _log.info(f"{self._what}_started", worker=number, pid=process.pid)
        if self._killed:  # stopped while the process was being started
            _kill_group(process.pid)
        elif self._stopping.is_set():
            _signal(process, self._stop_signal)
        status = await self._until_it_ends(process)
        if not (self._stopping.is_set() and status == 0):
            await self._handle_exit(number, process.pid, status, _read_worker_id(reports))

    async def _until_it_ends(self, process: asyncio.subprocess.Process) -> int:
        try:
            return await process.wait()
        except asyncio.CancelledError:
            _kill_group(process.pid)
            await process.wait()
            raise
        finally:
            _kill_group(process.pid)  # end its remaining children
            del self._running[process.pid]

    async def _handle_exit(self, number: int, pid: int, status: int, worker_id: int | None) -> None:
        _log.error(f"{self._what}_lost", worker=number, pid=pid, **_describe_exit(status))
        # A process that had not installed its handler yet dies from the signal, as requested.
        if self._stopping.is_set() and status != -self._stop_signal:
            self._clean = False
        if self._on_lost is None:
            return
        try:
            async with asyncio.timeout(_HAND_BACK_SECONDS):
                await self._on_lost(pid, worker_id)
        except Exception:
            _log.exception(f"{self._what}_lost_not_handled", worker=number, pid=pid)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _kill_all(self) -> None:
        self._killed = True
        for process in list(self._running.values()):
            _log.warning(f"{self._what}_killed", pid=process.pid)
            _kill_group(process.pid)


def pause_after(lived: float, backoff: Backoff) -> float:
    """Seconds to wait before replacing a process that lived for `lived` seconds."""
    if lived >= _HEALTHY_SECONDS:
        backoff.reset()
    return backoff.grow()


def watch_parent(grace: float = 30.0) -> None:
    """Make a supervised process end with its supervisor: with SIGTERM, and after `grace` seconds with SIGKILL.

    The process calls this once, at its start. In a process that is not supervised, it does nothing.
    """
    fd = os.environ.pop(_LIFELINE, None)
    if fd is None:
        return
    os.set_inheritable(int(fd), False)
    threading.Thread(target=_end_with_parent, args=(int(fd), grace), name="watch-parent", daemon=True).start()


def report_worker_id(worker_id: int) -> None:
    """Tell the supervisor which worker this process is. In a process that is not supervised, this does nothing."""
    fd = os.environ.pop(_REPORT, None)
    if fd is not None:
        with contextlib.suppress(BrokenPipeError):  # the supervisor has just died; `watch_parent` ends this process
            os.write(int(fd), str(worker_id).encode())
        os.close(int(fd))


def _read_worker_id(reports: int) -> int | None:
    """What a process that has ended wrote; its own children may still have the other end of the pipe open."""
    os.set_blocking(reports, False)
    try:
        text = os.read(reports, 20)
    except BlockingIOError:
        return None
    return int(text) if text else None


def _end_with_parent(lifeline: int, grace: float) -> None:
    # Nothing is ever written: the read returns when the last process with the write end has ended.
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace)
    os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def _signals_to(handle: Callable[[signal.Signals], None]) -> Generator[None]:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, handle, number)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _describe_exit(status: int) -> dict[str, object]:
    return {"signal": signal.Signals(-status).name} if status < 0 else {"exit_status": status}
