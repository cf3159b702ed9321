"""How this machine is doing: a worker that is short of time or memory claims less."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from forebay.tuning import Ewma

_TICK = 0.25  # seconds between looks
_LATE = 0.1  # an event loop that is later than this has too much to do at once
_BUSY = 3.0  # so many processes a core want to run: that is more than this worker's own doing
_SCARCE = 0.1  # less of the memory than this is little
_LEAST = 0.05
_CGROUP = Path("/sys/fs/cgroup")


class Machine:
    """Watches event-loop lag, load and free memory, and turns the worst of them into a share of the usual claim."""

    def __init__(self) -> None:
        self.share = 1.0
        self._lag = Ewma(alpha=0.3)
        self._load = 0.0
        self._free = 1.0

    async def watch(self) -> NoReturn:
        """Looks for ever."""
        while True:
            due = time.monotonic() + _TICK
            await asyncio.sleep(_TICK)
            self.see(late=max(0.0, time.monotonic() - due), load=load(), free=free_memory())

    def see(self, *, late: float, load: float, free: float) -> None:
        """`late`: seconds the event loop was behind; `load`: runnable processes a core; `free`: share of the memory."""
        self._lag.add(late)
        self._load, self._free = load, free
        lag = max(self._lag.mean or 0.0, 1e-9)
        wanted = min(1.0, _LATE / lag, _BUSY / max(load, 1e-9), free / _SCARCE)
        # Down at once, up by steps: what has just been relieved is not loaded again with all of it.
        self.share = max(_LEAST, min(wanted, self.share + 0.1))

    def describe(self) -> dict[str, float]:
        return {
            "share": round(self.share, 2),
            "lag_ms": round((self._lag.mean or 0.0) * 1000, 1),
            "load": round(self._load, 2),
            "free_memory": round(self._free, 3),
        }


def load() -> float:
    """Processes that want to run, for each core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def free_memory() -> float:
    """The share of the memory that is still to be had: this machine's, or this container's if that is less."""
    return min(_free_of_machine(), _free_of_container())


def _free_of_machine() -> float:
    with suppress(OSError, ValueError, KeyError):
        known = _numbers(Path("/proc/meminfo"))
        return known["MemAvailable:"] / known["MemTotal:"]
    return 1.0  # a system that does not tell


def _free_of_container() -> float:
    with suppress(OSError, ValueError, KeyError):  # no limit ("max"), or not that kind of system
        limit = int((_CGROUP / "memory.max").read_text())
        used = int((_CGROUP / "memory.current").read_text())
        cached = _numbers(_CGROUP / "memory.stat")["inactive_file"]
        return max(0.0, 1 - (used - cached) / limit)
    return 1.0


def _numbers(file: Path) -> dict[str, int]:
    return {words[0]: int(words[1]) for line in file.read_text().splitlines() if len(words := line.split()) > 1}
