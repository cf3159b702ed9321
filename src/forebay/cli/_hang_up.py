"""The end of a terminal: `forebay up` stops as after Ctrl-C, and does not fail because it cannot write any more."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType

    from forebay.cli.worker import WorkerSupervisor


def leave_terminal() -> None:
    """Write to nowhere from now on: writes to a terminal that was closed fail."""
    with Path(os.devnull).open("wb") as nowhere:
        for descriptor in (1, 2):
            os.dup2(nowhere.fileno(), descriptor)


def interrupt_on_hang_up() -> None:
    """Handle the signal like Ctrl-C, until a supervisor handles it."""
    if not _is_ignored():
        signal.signal(signal.SIGHUP, _interrupt)


def stop_on_hang_up(supervisor: WorkerSupervisor) -> None:
    """Stop the supervisor once: the terminal and `make` both send the signal, and a second stop would kill."""

    def stop() -> None:
        leave_terminal()
        if not supervisor.stopping.is_set():
            supervisor.stop(signal.SIGTERM)

    if not _is_ignored():
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, stop)


def ignore_hang_up() -> None:
    """While everything stops anyway."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _is_ignored() -> bool:
    """Whether it was started with nohup."""
    return signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    leave_terminal()
    raise KeyboardInterrupt
