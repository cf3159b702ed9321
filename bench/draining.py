"""Worker processes over a loaded backlog, timed from the first step start until everything is done."""

import asyncio
import shutil
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import asyncpg

from bench.harness import BenchError, Contender, Context, Workers, connected
from bench.measure import Usage, cpu_seconds, resident_bytes
from bench.probe import ProbeFolder, Reading

NAP = 0.01
MEMORY_EVERY = 0.25
STALLED = 60.0


@dataclass
class Drain:
    count: int
    seconds: float
    reading: Reading
    usage: Usage
    worker_cpu: float
    memory: list[tuple[float, int]] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.count / self.seconds


async def load_and_drain(context: Context, contender: Contender, count: int, processes: int = 1) -> Drain:
    dsn = await context.database(contender)
    await contender.load(dsn, count)
    return await drain(context, contender, dsn, count, processes=processes)


async def drain(
    context: Context,
    contender: Contender,
    dsn: str,
    count: int,
    *,
    processes: int = 1,
    for_seconds: float | None = None,
    beside: Callable[[ProbeFolder], Coroutine[None, None, None]] | None = None,
) -> Drain:
    """Drain what is loaded, all of it or for so many seconds; then check every record of it. `beside` goes on
    meanwhile."""
    await context.settle(dsn)
    probe, meter = ProbeFolder(context.folder, count), context.meter()
    async with connected(dsn) as conn:
        with context.running(contender, dsn, probe, processes) as workers:
            doing = asyncio.create_task(beside(probe)) if beside else None
            memory = await _watch(probe, workers, count, for_seconds)
            if doing:
                await doing
            if not for_seconds:
                await until_done(contender, conn, workers)
            ended, done = time.time(), probe.started()
            usage, cpu = meter.stop(workers.processes), cpu_seconds(workers.processes)
        reading = probe.read()
        shutil.rmtree(probe.path, ignore_errors=True)
        await check(contender, conn, reading, reading.handled if for_seconds else count, drained=not for_seconds)
    return Drain(done, ended - reading.first, reading, usage, cpu, memory)


def sample(context: Context, name: str, found: Drain, rate: float | None = None) -> None:
    """Keep the rate of a drain (or another rate of it) and say what it cost."""
    shown = found.rate if rate is None else rate
    context.report.sample(name, shown, "tasks/s", found.usage)
    cost = found.worker_cpu / found.count * 1e6
    foreign = found.usage.foreign_cores
    context.say(f"  {name}: {shown:,.0f} tasks/s, worker {cost:.1f} µs a task (foreign cores {foreign:.2f})")


async def until_started(probe: ProbeFolder, count: int, workers: Workers) -> None:
    patience = _Patience(f"of {count} tasks were started")
    while (started := probe.started()) < count:
        workers.check()
        patience.check(started)
        await asyncio.sleep(NAP)


async def until_stamped(probe: ProbeFolder, count: int, workers: Workers) -> None:
    patience = _Patience(f"of {count} timed tasks were started")
    while (started := len(probe.read().stamps)) < count:
        workers.check()
        patience.check(started)
        await asyncio.sleep(NAP)


async def until_done(contender: Contender, conn: asyncpg.Connection, workers: Workers) -> None:
    patience = _Patience(f"tasks of {contender.name} were started and not done")
    while left := await contender.pending(conn):
        workers.check()
        patience.check(left)
        await asyncio.sleep(NAP / 2)


async def check(
    contender: Contender, conn: asyncpg.Connection, reading: Reading, expected: int, *, drained: bool = True
) -> None:
    """Every task ran once (the probe says so), and the engine's own records agree."""
    if reading.handled != expected or reading.repeated:
        raise BenchError(f"{reading.handled} of {expected} tasks ran, {reading.repeated} ran again")
    await contender.verify(conn, expected, drained=drained)


async def _watch(
    probe: ProbeFolder, workers: Workers, count: int, for_seconds: float | None
) -> list[tuple[float, int]]:
    """Wait for all starts, or for the time to pass; the memory of the workers meanwhile."""
    memory: list[tuple[float, int]] = []
    patience = _Patience(f"of {count} tasks were started")
    while (started := probe.started()) < count:
        workers.check()
        patience.check(started)
        now = time.time()
        if for_seconds and now - (probe.first_start() or now) >= for_seconds:
            return memory
        if not memory or now - memory[-1][0] >= MEMORY_EVERY:
            memory.append((now, resident_bytes(workers.processes)))
        await asyncio.sleep(NAP)
    if for_seconds and time.time() - (probe.first_start() or 0.0) < for_seconds / 2:
        raise BenchError(f"{count} tasks were too few for {for_seconds:g} s")
    return memory


class _Patience:
    """Ends when a number has not moved for a while."""

    def __init__(self, what: str) -> None:
        self._what, self._last, self._since = what, -1, time.monotonic()

    def check(self, number: int) -> None:
        now = time.monotonic()
        if number != self._last:
            self._last, self._since = number, now
        elif now - self._since > STALLED:
            raise BenchError(f"{number} {self._what}; nothing moved for {STALLED:.0f} s")
