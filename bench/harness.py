"""What every group of measurements uses: fresh databases, worker processes, samples and records."""

import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import asyncpg
import psutil

from bench.measure import Meter, wait_until_quiet
from bench.probe import ProbeFolder
from bench.report import Report
from bench.server import Server
from bench.sizes import Sizes

if TYPE_CHECKING:
    from bench.ours import Forebay
    from bench.peers import Peer

STOP_GRACE = 20.0
ROOT = Path(__file__).resolve().parent.parent


class BenchError(Exception):
    """A contender did not do what it was timed for, so there is no figure."""


class Contender(Protocol):
    """What a drain needs of an engine."""

    @property
    def name(self) -> str: ...

    async def setup(self, dsn: str) -> None:
        """Create the engine's schema in an empty database."""

    async def load(self, dsn: str, count: int) -> None:
        """Put `count` tasks in, numbered from 0."""

    def worker_command(self) -> Sequence[str]: ...

    def worker_environment(self, dsn: str) -> dict[str, str]: ...

    async def pending(self, conn: asyncpg.Connection) -> int:
        """How many tasks are not done, according to the engine's own tables; cheap."""
        ...

    async def verify(self, conn: asyncpg.Connection, count: int, *, drained: bool = True) -> None:
        """Raise BenchError unless exactly `count` tasks are done, once each, with all their records."""


class Workers:
    """The processes of one engine in their own groups, with a log to show when they fail."""

    def __init__(self, contender: Contender, dsn: str, folder: Path, probe: ProbeFolder, count: int) -> None:
        self._log = folder / f"{contender.name}.log"
        own = contender.worker_environment(dsn) | probe.environment()
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = os.environ | {"PYTHONPATH": path} | own
        command = list(contender.worker_command())
        with self._log.open("wb") as log:
            self._children = [
                subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True)
                for _ in range(count)
            ]
        self.processes = [psutil.Process(child.pid) for child in self._children]

    def check(self) -> None:
        if any(child.poll() is not None for child in self._children):
            raise BenchError(f"a worker ended by itself\n{self._log.read_text(errors='replace')[-2000:]}")

    def stop(self) -> None:
        """Ask, wait, then insist; only ever the groups started here."""
        for child in self._children:
            _signal_group(child, signal.SIGTERM)
        deadline = time.monotonic() + STOP_GRACE
        for child in self._children:
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _signal_group(child, signal.SIGKILL)
                child.wait()


@dataclass
class Context:
    """One run: its server and folder, who is measured, and where the findings go."""

    server: Server
    folder: Path
    sizes: Sizes
    report: Report
    ours: "Forebay | None"
    peers: "Sequence[Peer]"
    say: Callable[[str], None]
    idle_p50: float | None = None
    _waited: float = 0.0
    _templates: set[str] = field(default_factory=set)

    async def database(self, contender: Contender) -> str:
        """An empty database with the engine's schema, copied from one that was set up once."""
        template = f"bench_{contender.name}_template"
        if template not in self._templates:
            await contender.setup(await self.server.fresh(template))
            self._templates.add(template)
        return await self.server.fresh(f"bench_{contender.name}", template)

    async def settle(self, dsn: str) -> None:
        """Statistics as a live database has them, no dirty pages, and quiet cores."""
        async with connected(dsn) as conn:
            await conn.execute("vacuum analyze")
            await conn.execute("checkpoint")
        await self.quiet()

    async def quiet(self) -> None:
        """Wait a while if others use the cores, in all no longer than the patience of the run."""
        self._waited += await wait_until_quiet(self.server.postmaster, self.sizes.patience - self._waited)

    def meter(self) -> Meter:
        return Meter(self.server.postmaster)

    @contextmanager
    def running(self, contender: Contender, dsn: str, probe: ProbeFolder, processes: int = 1) -> Iterator[Workers]:
        workers = Workers(contender, dsn, self.folder, probe, processes)
        try:
            yield workers
        finally:
            workers.stop()

    async def limit(self, name: str, unit: str, measure: Callable[[str, int], Awaitable[float]], count: int) -> None:
        """Sample one of the limits in a database of its own."""
        dsn = await self.server.fresh("bench_limits")
        await self.quiet()
        meter = self.meter()
        self.sample(name, await measure(dsn, count), unit, meter)

    def sample(self, name: str, value: float, unit: str, meter: Meter) -> None:
        usage = meter.stop()
        self.report.sample(name, value, unit, usage)
        self.say(f"  {name}: {value:,.1f} {unit} (foreign cores {usage.foreign_cores:.2f})")

    def record(self, name: str, ours: float, against: float, note: str = "") -> None:
        self.say(self.report.record(name, ours, against, note).as_line())

    def record_medians(self, name: str, ours: str, against: str, note: str = "") -> None:
        """Record the ratio of two sampled series, if both were sampled."""
        samples = self.report.samples
        if ours in samples and against in samples:
            self.record(name, *self.report.pair(ours, against), note)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    conn = await asyncpg.connect(dsn)
    try:
        yield conn
    finally:
        await conn.close()


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        return
