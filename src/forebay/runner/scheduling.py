"""The processor time of guarded processes: a worker comes first, then calls that take a moment, then calls that take
long. Standard library only."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Niceness, added to that of the worker.
NICE, NICE_LONG = 5, 15
LONG_S = 0.25  # seconds of CPU time after which a call takes long
_MOST = 19


class Niceness:
    """The niceness of the threads of some processes, and of their sessions.

    Where Linux groups processes by session (autogroup), it shares the processors between sessions first: there, the
    niceness of a thread counts only against threads of the same session.
    """

    def __init__(self, worker: int) -> None:
        """`worker`: the process that comes first."""
        self._threads_base = os.getpriority(os.PRIO_PROCESS, worker)
        self._sessions_base = _session_niceness(worker)
        self._lowered_threads: set[int] = set()
        self._lowered_sessions: set[int] = set()

    @property
    def is_lowered(self) -> bool:
        return bool(self._lowered_threads)

    def start_session(self) -> None:
        """Set the niceness of the session of this process."""
        _set_session(os.getpid(), self._sessions_base + NICE)

    def lower(self, pids: Iterable[int]) -> None:
        """Put all threads behind those of others, and those that they start."""
        pids = list(pids)
        for thread in _threads(pids):
            if thread not in self._lowered_threads:
                self._lowered_threads.add(thread)
                _set_thread(thread, self._threads_base + NICE_LONG)
        for session, pid in _sessions(pids).items():
            if session not in self._lowered_sessions and _set_session(pid, self._sessions_base + NICE_LONG):
                self._lowered_sessions.add(session)

    def raise_again(self, pids: Iterable[int]) -> None:
        """Undo it. For threads this takes a privilege; without it, they stay behind others of their session."""
        pids = list(pids)
        self._lowered_threads.clear()
        self._lowered_sessions.clear()
        for thread in _threads(pids):
            _set_thread(thread, self._threads_base + NICE)
        for pid in _sessions(pids).values():
            _set_session(pid, self._sessions_base + NICE)


def _threads(pids: Iterable[int]) -> Iterator[int]:
    """Each thread has a niceness of its own."""
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            yield from map(int, os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 - no objects


def _set_thread(thread: int, niceness: int) -> None:
    with contextlib.suppress(OSError):  # it has ended, or only the administrator may
        os.setpriority(os.PRIO_PROCESS, thread, min(_MOST, niceness))


def _sessions(pids: Iterable[int]) -> dict[int, int]:
    """The sessions, each with one of its processes."""
    found: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            found[os.getsid(pid)] = pid
    return found


def _session_niceness(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/autogroup").read_text().rpartition(" ")[2])
    except (OSError, ValueError):  # sessions are not grouped here
        return 0


def _set_session(pid: int, niceness: int) -> bool:
    """Return whether it was set. The kernel may refuse more than ten changes a second: the caller tries again."""
    try:
        Path(f"/proc/{pid}/autogroup").write_text(str(min(_MOST, niceness)))
    except OSError:
        return False
    return True
