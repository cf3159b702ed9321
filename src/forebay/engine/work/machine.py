"""The load of this machine: a worker that is short of CPU time or memory claims less."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from forebay.engine.work import cgroup
from forebay.tuning import Ewma

_TICK = 0.25  # seconds between samples
_LATE = 0.1  # seconds; an event loop with more lag is overloaded
_BUSY = 3.0  # runnable processes per core; more than this worker causes
_SCARCE = 0.1  # share of free memory below which memory is scarce
_LEAST = 0.05


class Machine:
    """Samples event-loop lag, load and free memory, and converts the worst of them into a share of the usual claim."""

    def __init__(self) -> None:
        self.share = 1.0
        self._lag = Ewma(alpha=0.3)
        self._load = 0.0
        self._free = 1.0

    async def watch(self) -> NoReturn:
        """Sample forever."""
        while True:
            due = time.monotonic() + _TICK
            await asyncio.sleep(_TICK)
            self.observe(late=max(0.0, time.monotonic() - due), load=load(), free=free_memory())

    def observe(self, *, late: float, load: float, free: float) -> None:
        """`late`: event-loop lag in seconds; `load`: runnable processes per core; `free`: share of free memory."""
        self._lag.add(late)
        self._load, self._free = load, free
        lag = max(self._lag.mean or 0.0, 1e-9)
        wanted = min(1.0, _LATE / lag, _BUSY / max(load, 1e-9), free / _SCARCE)
        # The share drops immediately and rises in steps, so that a machine that just recovered is not overloaded again.
        self.share = max(_LEAST, min(wanted, self.share + 0.1))

    def describe(self) -> dict[str, float]:
        return {
            "share": round(self.share, 2),
            "lag_ms": round((self._lag.mean or 0.0) * 1000, 1),
            "load": round(self._load, 2),
            "free_memory": round(self._free, 3),
        }


def load() -> float:
    """Runnable processes per core. Where this container has a limit of its own, the load of its neighbours says nothing
    about it: what counts is for how long it is throttled."""
    if cgroup.cores() is None:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    return 1 / (1 - cgroup.throttled())


def free_memory() -> float:
    """The share of available memory: of this machine, or of this container if that is less."""
    return min(_free_of_machine(), cgroup.free_memory())


def _free_of_machine() -> float:
    with suppress(OSError, ValueError, KeyError):
        known = _numbers(Path("/proc/meminfo"))
        return known["MemAvailable:"] / known["MemTotal:"]
    return 1.0  # not reported by this system


def _numbers(file: Path) -> dict[str, int]:
    return {words[0]: int(words[1]) for line in file.read_text().splitlines() if len(words := line.split()) > 1}
