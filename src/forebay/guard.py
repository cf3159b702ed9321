"""The guard of one child: starts the process that works, watches its memory, leaves nothing of it behind.

Run as a script by pools of process steps and by the browser, on the standard library alone, so that it stays small:
the process that does the work is forked from it before anything else is imported. The guard adopts what that process
leaves behind, daemons and other sessions included, and ends only when all of it has ended. It kills all of it when
its owner says so, when the owner's process dies, when memory runs over, and when the working process ends by itself.

    guard.py CONTROL OWNER MEMORY_MB serve MODULE DATA          runs `serve(socket)` of that module
    guard.py CONTROL OWNER MEMORY_MB become DATA FOLDER ARGV…   becomes that program; its descriptors 3 and 4 are DATA,
                                                                and FOLDER is removed when all of it is gone

    owner → guard    r  it works: watch the memory      i  it rests      end of file: kill everything
    guard → owner    one line before the end: `exit 3`, `signal 11` or `memory`
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MB = 1 << 20
_TICK = 0.1  # seconds between two looks at the memory
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PARENT_DIED = signal.SIGUSR1
_HEARD = (signal.SIGCHLD, _PARENT_DIED, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Guard:
    """The parent of one working process."""

    def __init__(self, control: socket.socket, owner: int, memory_mb: int) -> None:
        self._control = control
        self._owner = owner
        self._limit = memory_mb * MB
        self._runner = 0
        self._ended: str | None = None
        self._task_runs = False
        self._woken, self._wakes = socket.socketpair()

    def fork(self) -> bool:
        """Make the process that works; true in that process, false in the guard."""
        self._listen_to_signals()
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _prctl(_PR_SET_PDEATHSIG, _PARENT_DIED)
        guard = os.getpid()
        self._runner = os.fork()
        if self._runner == 0:
            self._become_runner(guard)
            return True
        with contextlib.suppress(OSError):  # the runner does the same: whoever comes first
            os.setpgid(self._runner, self._runner)
        return False

    def watch(self, folder: str = "") -> None:
        """Return when all processes are gone, and say on the control socket why."""
        memory_is_out = False
        while self._ended is None and not memory_is_out:
            if not self._hear():
                break
            memory_is_out = self._task_runs and used_memory(_descendants(os.getpid()), self._limit) > self._limit
        self._kill_all()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._control.sendall(f"{'memory' if memory_is_out else self._ended}\n".encode())

    def _listen_to_signals(self) -> None:
        self._woken.setblocking(False)
        self._wakes.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        for number in _HEARD:
            # Heard, not obeyed: a service manager may signal all, but the worker has its grace period.
            signal.signal(number, _ignore)

    def _become_runner(self, guard: int) -> None:
        signal.set_wakeup_fd(-1)
        for number in _HEARD:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # A handler, because programs that the step starts would inherit "ignored"; forks get the default.
        signal.signal(signal.SIGTERM, _ignore)
        os.register_at_fork(after_in_child=_obey_sigterm)
        for end in (self._woken, self._wakes, self._control):
            end.close()
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        _limit_memory(self._limit)

    def _hear(self) -> bool:
        """Wait for something to happen; false when everything must end."""
        ready, _, _ = select.select([self._control, self._woken], [], [], _TICK if self._task_runs else None)
        if self._woken in ready:
            self._woken.recv(4096)
            self._reap()
        if self._control in ready:
            said = self._control.recv(64)
            if not said:
                return False
            self._task_runs = said.endswith(b"r")
        # The kernel tells of the end of the thread that started us; only the process matters.
        return os.getppid() == self._owner

    def _reap(self) -> bool:
        """Collect the dead; false when there is no child left at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._runner:
                code = os.waitstatus_to_exitcode(status)
                self._ended = f"exit {code}" if code >= 0 else f"signal {-code}"

    def _kill_all(self) -> None:
        # Orphans become children of this process, so "no child left" means that the whole tree is gone.
        pause = 0.001
        while True:
            if self._ended is None:
                with contextlib.suppress(OSError):
                    os.killpg(self._runner, signal.SIGKILL)
            for pid in _descendants(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not self._reap():
                return
            time.sleep(pause)
            pause = min(2 * pause, 0.05)


def used_memory(pids: list[int], enough: int) -> int:
    """Bytes of memory that the processes hold together.

    Resident sizes are cheap and count shared pages once for each process; only when their sum is above
    `enough` are the pages counted fairly.
    """
    resident = sum(map(_resident, pids))
    return resident if resident <= enough else sum(map(_proportional, pids))


def _resident(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_bytes().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * resource.getpagesize()


def _proportional(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except OSError:
        return _private(pid)
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(b"Pss:"))


def _private(pid: int) -> int:
    """What a process holds beside files, where the kernel does not tell more: of those in a sandbox of their own."""
    try:
        text = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0
    return sum(
        int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith((b"RssAnon:", b"RssShmem:"))
    )


def _descendants(pid: int) -> list[int]:
    found = list(_children(pid))
    for child in found:
        found.extend(_children(child))
    return found


def _children(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - ten times a second: no objects
            with contextlib.suppress(OSError):
                yield from map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())


def _limit_memory(limit: int) -> None:
    """A backstop for what grows faster than the guard looks; wide, as it counts memory never touched, too."""
    most = 2 * limit + 512 * MB
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with contextlib.suppress(OSError):  # when the machine runs out, the step goes before the worker
        Path("/proc/self/oom_score_adj").write_text("500")


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _ignore(_number: int, _frame: object) -> None:
    pass


def _obey_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave_output() -> None:
    """Only the working processes may hold their output open."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def main(control_fd: str, owner: str, memory_mb: str, what: str, *how: str) -> None:
    """Be the guard, and in the fork the process that works."""
    control = socket.socket(fileno=int(control_fd))
    data = socket.socket(fileno=int(how[1] if what == "serve" else how[0]))
    for end in (control, data):
        end.set_inheritable(False)
    guard = Guard(control, int(owner), int(memory_mb))
    if not guard.fork():
        data.close()
        _leave_output()
        guard.watch(how[1] if what == "become" else "")
    elif what == "serve":
        sys.path.append(str(Path(__file__).resolve().parents[1]))
        importlib.import_module(how[0]).serve(data)  # never in the guard: it stays small
    else:
        _become(data, how[2:])


def _become(data: socket.socket, argv: tuple[str, ...]) -> None:
    kept = os.dup(data.fileno()) if data.fileno() == 4 else data.fileno()
    for fd in (3, 4):
        os.dup2(kept, fd)
    os.execv(argv[0], argv)  # noqa: S606 - a list, and the caller's own


if __name__ == "__main__":
    main(*sys.argv[1:])
