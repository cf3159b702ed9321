"""What goes on while a cluster loses its primary: clients submit, a worker settles, and all of it is written down."""

from __future__ import annotations

import asyncio
import statistics
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Self

from forebay import Client
from forebay.db.pool import open_pool
from forebay.errors import DatabaseUnavailable
from tests.crash._rig import EFFECTS, GONE, QUICK, Watch, Workers, assert_done_once, eventually, submit
from tests.crash._steps import Order, letters, orders

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

TTL = 20.0  # of ops/patroni/patroni.yml
_BACKLOG = 400
_STEADY = 20
_WAKE_UPS = 5


@dataclass
class Load:
    """Clients and a worker on one cluster."""

    dsn: str  # as clients and workers have it
    watch: Watch  # on the cluster itself
    workers: Workers
    settings: dict[str, str]
    accepted: dict[int, float] = field(default_factory=dict)  # the jobs that a client was told of, and when
    refused: int = 0
    given_twice: int = 0  # numbers of jobs

    async def __aenter__(self) -> Self:
        await self.watch.fetch(EFFECTS)
        self.worker = await self.workers.start(**{"poll_s": "5", "lease_floor_s": "5", **self.settings}).started()
        self._submitting = asyncio.create_task(self._submit_for_ever())
        await self.goes_on()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._submitting.cancel()
        with suppress(asyncio.CancelledError):
            await self._submitting
        self.workers.end()
        await self.watch.__aexit__()

    async def goes_on(self, jobs: int = _STEADY) -> None:
        """Wait until some more jobs have been accepted."""
        wanted = len(self.accepted) + jobs

        async def is_served() -> bool:
            return len(self.accepted) >= wanted

        await eventually("clients are served", is_served, 120)

    async def _submit_for_ever(self) -> None:
        prepared = self.settings.get("prepared_statements") != "false"
        async with await open_pool(self.dsn, size=2, name="tests", prepared=prepared) as pool:
            client = Client(pool)
            while True:
                try:
                    async with asyncio.timeout(10):
                        job = await client.submit(orders, Order(number=1))
                    self.given_twice += job.job_id in self.accepted
                    self.accepted[job.job_id] = time.time()
                except (*GONE, DatabaseUnavailable):
                    self.refused += 1
                await asyncio.sleep(0.02)

    async def loses_primary(self, what: Callable[[], Awaitable[object] | None]) -> Recovery:
        """Do this while a backlog is processed; answer how long nothing was accepted and settled afterwards."""
        job = await submit(self.watch, orders, _BACKLOG)
        self.accepted[job] = time.time()
        began = time.time()
        if (waiting := what()) is not None:
            await waiting
        await self.goes_on()
        # What comes between the event and its effect does not count: the longest pause is the outage.
        await eventually("tasks are settled again", lambda: self._settled_since(max(self.accepted.values())))
        settled = [row[0] for row in await self.watch.fetch(_ENDED, began)]
        return Recovery(_after_pause(list(self.accepted.values()), began), _after_pause(settled, began))

    async def _settled_since(self, moment: float) -> bool:
        return bool(
            await self.watch.one(
                "select exists (select from forebay.attempt where ended_at > to_timestamp($1))", moment
            )
        )

    async def finish(self, *, may_lose: bool = False) -> Counts:
        """End the submitting, and prove that everything that was accepted is done exactly once; with `may_lose`,
        everything that is still there."""
        self._submitting.cancel()
        await asyncio.wait([self._submitting])
        wake_up = await self._wake_up_time()
        stored = await self.watch.fetch("select id, total from forebay.job where id = any($1)", list(self.accepted))
        lost = self.accepted.keys() - {row["id"] for row in stored}
        assert may_lose or not lost, f"accepted and lost: {sorted(lost)}"
        jobs = {row["id"]: row["total"] for row in stored}
        await self.watch.done(jobs, seconds=120)
        await self.workers.stop_all()
        twice = await self.watch.one(_TWICE)
        await assert_done_once(self.watch, jobs, "weigh", "ship", effect="ship")
        assert await self.watch.one(_TOKENS), "a token was given out twice"
        assert wake_up < 2, "new work waited for the next poll"
        assert may_lose or not self.given_twice
        accepted = len(self.accepted) + self.given_twice
        return Counts(accepted, len(lost) + self.given_twice, int(twice), self.refused, wake_up)

    async def tokens(self) -> dict[int, float]:
        """The tokens under which tasks were done, and when. A lease whose settlement is lost expires: this is no second
        use of its token."""
        done = "select token, max(ended_at) from forebay.attempt where outcome = 'DONE' group by 1"
        rows = await self.watch.fetch(done)
        return {row[0]: row[1].timestamp() for row in rows}

    async def _wake_up_time(self) -> float:
        """How long a single task takes when the worker is idle; it polls every five seconds at most."""
        await self.watch.until("the worker is idle", "select not exists (select from forebay.lease)")
        times: list[float] = []
        for _ in range(_WAKE_UPS):
            job = await submit(self.watch, letters, 1)
            await self.watch.done([job])
            times.append(await self.watch.one(_TOOK, job))
        return statistics.median(times)


@dataclass(frozen=True)
class Recovery:
    """Seconds from the event until clients were served again, and tasks settled again."""

    accepted: float
    settled: float

    def __str__(self) -> str:
        found = {"accepted": self.accepted, "settled": self.settled}
        return ", ".join(f"{what} after {time:.1f} s ({time / TTL:.2f} ttl)" for what, time in found.items())


@dataclass(frozen=True)
class Counts:
    """What was accepted by the database, and what became of it."""

    accepted: int
    lost: int
    twice: int
    refused: int
    wake_up: float

    def __str__(self) -> str:
        return (
            f"{self.accepted} accepted, {self.lost} lost, {self.twice} settled twice, {self.refused} refused, "
            f"wake-up {self.wake_up * 1000:.0f} ms"
        )


def report(case: str, *found: object) -> None:
    """Print the figures of a case; `pytest -m soak -n 0 -s tests/ha` shows them."""
    print(f"\nHA {case}: {'; '.join(str(each) for each in found)}")  # noqa: T201


_ENDED = "select extract(epoch from ended_at)::float8 from forebay.attempt where ended_at > to_timestamp($1)"
_TWICE = """select count(*) from (select from forebay.attempt where outcome = 'DONE'
    group by job_id, n, step_id having count(*) > 1) twice"""
# A token is that of one lease, which has tasks of one step of one job.
_TOKENS = """select not exists (select from forebay.attempt
    group by token having count(distinct (job_id, step_id)) > 1)"""
_TOOK = "select extract(epoch from finished_at - created_at)::float8 from forebay.job where id = $1"


def _after_pause(moments: Sequence[float], began: float) -> float:
    """When the longest pause after the beginning ended."""
    later = sorted([began, *(moment for moment in moments if moment > began)])
    _, end = max((second - first, second) for first, second in pairwise(later))
    return end - began


def load(cluster_dsn: str, folder: Path, *, through: str | None = None, **settings: str) -> Load:
    """The load on a cluster, which clients and workers reach by its own addresses or by another one."""
    dsn = through or cluster_dsn
    return Load(dsn, Watch(cluster_dsn), Workers(dsn, folder), {**QUICK, "sweep_s": "1", **settings})
