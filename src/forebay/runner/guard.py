"""The guard of one child: starts the working process, watches its resource usage, and removes all of its processes.

It is a script that uses only the standard library, to stay small: the working process is forked from it before
anything else is imported. The guard adopts all descendants, including daemons and other sessions, and ends only when
all of them have ended. It kills them on request of its owner, when the owner's process dies, when memory, CPU time or
disk usage exceeds its limit, and when the working process ends.

    guard.py SPEC     see `spec.py`: a module to serve or a program to run, limits, and the sandbox for it

    owner → guard    s  it starts: watch it    r  a task runs: watch it    i  idle: watch it less often
                     end of file: kill everything
    guard → owner    one line before the end: `exit 3`, `signal 11`, `memory`, `cpu`, `disk` or `processes`
"""

from __future__ import annotations

import contextlib
import ctypes
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

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from forebay.runner import bubblewrap, launch, namespaces
from forebay.runner.disk_use import Watched, exceeds_size
from forebay.runner.scheduling import LONG_S, NICE, Niceness
from forebay.runner.spec import Network, Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

MB = 1 << 20
_TICK = 0.1  # seconds between two measurements
_IDLE_TICK = 1.0  # while idle
_TICKS_OF_DISK = 5
_SANDBOX_PROCESSES = 3  # the one that waits outside, the first one inside, and the working process
_SIGNALLED = 128
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PARENT_DIED = signal.SIGUSR1
_SIGNALS = (signal.SIGCHLD, _PARENT_DIED, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Guard:
    """The parent of one working process."""

    def __init__(self, control: socket.socket, spec: Spec) -> None:
        self._control = control
        self._owner = spec.owner
        self._watched = [Watched.of(folder, most * MB) for folder, most in watched_folders(spec)]
        self._spec = spec
        self._limit = spec.limits.memory_mb * MB
        self._cpu_before = 0.0
        self._niceness = Niceness(spec.owner)
        self._may_lower = True
        self._ticks = 0
        self._runner = 0
        self._ended: str | None = None
        self._task_runs = False
        self._has_left_processes = False
        self._woken, self._wakes = socket.socketpair()
        self._poll = select.poll()
        for heard in (self._control, self._woken):
            self._poll.register(heard, select.POLLIN)

    def fork(self) -> bool:
        """Create the working process; return True in that process and False in the guard."""
        self._listen_to_signals()
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _prctl(_PR_SET_PDEATHSIG, _PARENT_DIED)
        self._niceness.start_session()
        os.nice(NICE)  # the guard, too: it measures ten times a second, while the worker has something to do
        guard = os.getpid()
        self._runner = os.fork()
        if self._runner == 0:
            self._prepare_working_process(guard)
            return True
        with contextlib.suppress(OSError):  # the working process does the same, and may be first
            os.setpgid(self._runner, self._runner)
        return False

    def watch(self) -> None:
        """Return when all processes have ended, and send the reason on the control socket."""
        over = ""
        while self._ended is None and not over:
            if not self._wait_for_event():
                break
            over = self._overrun()
        self._kill_all()
        if self._spec.watched and os.geteuid() == 0:
            _take_ownership(self._spec.watched)
        if self._spec.folder:
            shutil.rmtree(self._spec.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._control.sendall(f"{over or self._ended}\n".encode())

    def _overrun(self) -> str:
        """The name of the exceeded limit."""
        if self._has_left_processes:
            return "processes"
        pids = _descendants(os.getpid())
        if used_memory(pids, self._limit) > self._limit:
            return "memory"
        used, most = used_cpu(pids) - self._cpu_before, self._spec.limits.cpu_s
        if most is not None and used > most:
            return "cpu"
        if used > LONG_S and self._may_lower:
            self._niceness.lower(pids)
        self._ticks += 1
        if self._ticks % _TICKS_OF_DISK != 0:
            return ""
        return "disk" if any(exceeds_size(each, pids) for each in self._watched) else ""

    def _listen_to_signals(self) -> None:
        self._woken.setblocking(False)
        self._wakes.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            # Received but ignored: a service manager may signal all processes, but the worker has a grace period.
            signal.signal(number, launch.ignore_signal)

    def _prepare_working_process(self, guard: int) -> None:
        signal.set_wakeup_fd(-1)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # A handler, because programs that the step starts would inherit "ignored"; handlers are reset to the default.
        signal.signal(signal.SIGTERM, launch.ignore_signal)
        os.register_at_fork(after_in_child=launch.restore_sigterm)
        for end in (self._woken, self._wakes, self._control):
            end.close()
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        with contextlib.suppress(OSError):  # if the machine runs out of memory, the step is killed before the worker
            Path("/proc/self/oom_score_adj").write_text("500")

    def _wait_for_event(self) -> bool:
        """Wait for an event; return False if everything must end."""
        # Not `select.select`: a worker with many open files passes a control socket with a number above 1,023.
        ready = {fd for fd, _ in self._poll.poll(1000 * (_TICK if self._task_runs else _IDLE_TICK))}
        if self._woken.fileno() in ready:
            self._woken.recv(4096)
            self._reap()
        if self._control.fileno() in ready:
            said = self._control.recv(64)
            if not said:
                return False
            self._task_runs, self._may_lower = not said.endswith(b"i"), not said.endswith(b"s")
            self._begin()
        # The kernel signals the end of the thread that started us; only the end of the process matters.
        return os.getppid() == self._owner

    def _begin(self) -> None:
        """Handle the start of a process, of a call, or of an idle period."""
        pids = _descendants(os.getpid())
        self._cpu_before = used_cpu(pids)
        if self._niceness.is_lowered:
            self._niceness.raise_again(pids)
        if self._task_runs or self._spec.sandbox is None or not self._spec.module:
            return  # trusted code and browsers may keep processes
        self._has_left_processes = len(pids) > (_SANDBOX_PROCESSES if self._spec.sandbox.is_isolated else 1)

    def _reap(self) -> bool:
        """Reap ended processes; return False if no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._runner:
                code = os.waitstatus_to_exitcode(status)
                if self._spec.sandbox is not None and self._spec.sandbox.is_isolated and code > _SIGNALLED:
                    code = _SIGNALLED - code  # the first process of a sandbox encodes signals like this
                self._ended = f"exit {code}" if code >= 0 else f"signal {-code}"

    def _kill_all(self) -> None:
        # Orphans become children of this process, so "no child left" means that the whole tree has ended.
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
    """The memory that the processes use together, in bytes.

    Resident sizes are cheap to read but count shared pages once for each process; only if their sum exceeds `enough`
    are the pages counted proportionally.
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
    """The memory of a process without files, for processes whose other counters the kernel hides (in a sandbox)."""
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


def used_cpu(pids: list[int]) -> float:
    """Seconds of CPU time of these processes and of the children that they have waited for."""
    return sum(map(_cpu_ticks, pids)) / os.sysconf("SC_CLK_TCK")


def _cpu_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


def watched_folders(spec: Spec) -> Iterator[tuple[str, int]]:
    """The writable folders and their limits in MB. The kernel limits only the scratch space of a sandbox."""
    if spec.watched:
        yield spec.watched, spec.watched_mb
    if spec.folder and spec.sandbox is not None and not spec.sandbox.is_isolated:
        yield f"{spec.folder}/home", spec.sandbox.scratch_mb


def _take_ownership(folder: str) -> None:
    """Make root the owner of the files again."""
    _give_ownership(folder, 0)


def _give_ownership(folder: str, uid: int) -> None:
    """Make an account the owner of a folder and of the files that an earlier run left there, which it may continue."""
    os.chown(folder, uid, uid)
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            with contextlib.suppress(OSError):
                os.lchown(os.path.join(place, name), uid, uid)  # noqa: PTH118


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _close_output() -> None:
    """Close our copies of the output: only the working processes may keep it open."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)


def main(text: str) -> None:
    """Run the guard, and in the fork the working process."""
    spec = Spec.load(text)
    control = socket.socket(fileno=spec.control)
    control.set_inheritable(False)
    handover = _handover(spec)
    guard = Guard(control, spec)
    uid = 0 if spec.sandbox is None or spec.sandbox.uid_base is None else spec.sandbox.uid_base + os.getpid()
    if spec.watched and uid:
        _give_ownership(spec.watched, uid)
    if guard.fork():
        sys.exit(work(spec, uid, handover))
    for fd in {*spec.descriptors, *([] if handover < 0 else [handover])}:
        os.close(fd)
    _close_output()
    guard.watch()


def _handover(spec: Spec) -> int:
    """A connection to the egress proxy: it receives a socket of the sandbox over it, and identifies this process by
    it."""
    if spec.sandbox is None or not isinstance(spec.sandbox.network, Network):
        return -1
    proxy = socket.socket(socket.AF_UNIX)
    proxy.connect(spec.sandbox.network.handover)
    proxy.set_inheritable(True)
    return proxy.detach()


def work(spec: Spec, uid: int, handover: int) -> int:
    """Run as the working process; return its exit status, unless it becomes a program."""
    if spec.sandbox is None:
        launch.limit(spec)
        return launch.run(spec)
    if spec.sandbox.method == "bubblewrap":
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # bubblewrap would end on them
        inside = [*spec.python, launch.__file__, spec.dump(), str(uid), str(handover)]
        argv = bubblewrap.command(spec.sandbox, inside)
        os.execv(argv[0], argv)  # noqa: S606 - our own list
    try:
        if spec.sandbox.is_isolated:
            namespaces.enter(spec.sandbox)
        launch.seal(spec, uid, handover)
    except (OSError, namespaces.Forbidden) as error:
        print(f"sandbox: {error}", file=sys.stderr)  # noqa: T201 - there is no logger
        return 1
    return launch.run(spec)


if __name__ == "__main__":
    main(*sys.argv[1:])
