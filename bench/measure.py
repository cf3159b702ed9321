"""Statistics, and who else used the machine while something was measured."""

import asyncio
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

QUIET_CORES = 0.25


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Iterable[float], share: float) -> float:
    """The value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def half_range(values: Sequence[float]) -> float:
    """Half the distance between the extremes, as a share of the median."""
    return (max(values) - min(values)) / 2 / median(values)


@dataclass(frozen=True)
class Usage:
    """CPU seconds a second: all of it, and the part that nobody in this benchmark used."""

    busy_cores: float
    foreign_cores: float


class Meter:
    """Measures from its creation to `stop`; the processes under test are named when it stops."""

    def __init__(self, postmaster: psutil.Process | None) -> None:
        self._postmaster = postmaster
        self._began = time.perf_counter()
        self._busy = _machine_seconds()
        self._known = self._known_seconds()
        self._descendants = self._descendant_seconds()

    def stop(self, workers: Sequence[psutil.Process] = (), workers_before: float = 0.0) -> Usage:
        elapsed = time.perf_counter() - self._began
        busy = _machine_seconds() - self._busy
        known = self._known_seconds() - self._known + cpu_seconds(workers) - workers_before
        if not workers:  # a worker inside this process has children, too
            known += self._descendant_seconds() - self._descendants
        foreign = max(0.0, busy - known) / elapsed
        return Usage(busy / elapsed, min(foreign, float(psutil.cpu_count() or 1)))

    def _known_seconds(self) -> float:
        mine = psutil.Process().cpu_times()
        known = mine.user + mine.system + mine.children_user + mine.children_system
        return known + (_tree_seconds(self._postmaster) if self._postmaster else 0.0)

    def _descendant_seconds(self) -> float:
        """CPU of the living descendants of this process, but for the server's."""
        mine = (each for each in psutil.Process().children() if each != self._postmaster)
        return sum(_whole_tree_seconds(each) for each in mine)


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    return sum(_tree_seconds(process) for process in processes)


def resident_bytes(processes: Iterable[psutil.Process]) -> int:
    """Resident memory of the processes and all their children."""
    total = 0
    for process in processes:
        try:
            total += sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
        except psutil.NoSuchProcess:
            continue
    return total


def proportional_bytes(process: psutil.Process) -> int:
    """Memory of a process and all its descendants together: a page that several of them share counts once."""
    total = 0
    for each in (process, *process.children(recursive=True)):
        try:
            lines = Path(f"/proc/{each.pid}/smaps_rollup").read_text("ascii").splitlines()
        except (OSError, psutil.NoSuchProcess):
            continue  # it has ended
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


async def wait_until_quiet(postmaster: psutil.Process | None, patience: float, longest: float = 10.0) -> float:
    """Others may share the cores: return when they are idle, or soon; the seconds that it took."""
    began = time.monotonic()
    deadline = began + min(longest, patience)
    while time.monotonic() < deadline:
        meter = Meter(postmaster)
        await asyncio.sleep(0.3)
        if meter.stop().foreign_cores < QUIET_CORES:
            break
    return time.monotonic() - began


def _machine_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times[:8]) - times.idle - getattr(times, "iowait", 0.0))


def _whole_tree_seconds(process: psutil.Process) -> float:
    total = 0.0
    try:
        for each in (process, *process.children(recursive=True)):
            times = each.cpu_times()
            total += times.user + times.system
    except psutil.NoSuchProcess:
        return total
    return total


def _tree_seconds(process: psutil.Process) -> float:
    """CPU of a process, of its living children, and of those that it has already waited for."""
    try:
        own = process.cpu_times()
        total = own.user + own.system + own.children_user + own.children_system
        for child in process.children():
            times = child.cpu_times()
            total += times.user + times.system
    except psutil.NoSuchProcess:
        return 0.0
    return float(total)
