"""What dispatchers that have died have left: their leases are kept while runners work for them, and their reports are
settled, by any other dispatcher."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from forebay.engine.db import leases as fleet_leases
from forebay.engine.work.attempt import Attempt, begin_wait, end_wait, report_error, report_outcome
from forebay.fleet.outcomes import Released, decode_outcome
from forebay.log import get_logger
from forebay.types import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.step_names import StepNames
    from forebay.fleet.port import DispatcherPort, HeldOffer, Report, TaskEnd

log = get_logger("dispatcher")


class Adoption:
    """The leases that this dispatcher has taken over."""

    def __init__(  # noqa: PLR0913 - it is wired once
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        port: DispatcherPort,
        *,
        executors: Mapping[int, StepExecutor],
        leases: LeaseBook,
        names: StepNames,
        pipelines: Sequence[Pipeline[Any]],
        report: Callable[[Attempt], None],
        silent_s: float,
    ) -> None:
        self._pool, self._worker_id, self._clock, self._port = pool, worker_id, clock, port
        self._executors = executors
        self._leases = leases
        self._names = names
        self._pipelines = {pipeline.name: pipeline for pipeline in pipelines}
        self._report = report
        self._silent_s = silent_s
        self._adopted: dict[int, tuple[Lease, float]] = {}  # by token, and when a runner last said that it has it
        self._dead: set[str] = set()
        self._lock = asyncio.Lock()

    async def note_held(self, held: Sequence[HeldOffer]) -> None:
        """Take over the leases of offers whose dispatcher is dead, and which a runner has."""
        now = time.monotonic()
        unknown: list[int] = []
        for offer in held:
            for token in offer.tokens:
                if token in self._adopted:
                    self._adopted[token] = self._adopted[token][0], now
                else:
                    unknown.append(token)
        for dispatcher in {offer.dispatcher for offer in held} - self._dead:
            log.warning("dispatcher_adopted", dispatcher=dispatcher)
            await self._port.adopt(dispatcher)
            self._dead.add(dispatcher)
        if unknown:
            async with self._lock:
                await self._adopt([token for token in unknown if token not in self._adopted])

    async def _adopt(self, tokens: Sequence[int]) -> None:
        found = await fleet_leases.adopt_leases(
            self._pool,
            self._worker_id,
            tokens,
            silent_s=self._silent_s,
            lease_s=self._leases.length.value,
            now=self._clock.stamp(),
        )
        mine = [lease for lease in found if lease.step_id in self._executors]
        await self._names.learn(mine)
        for lease in mine:
            self._adopted[lease.token] = lease, time.monotonic()
            self._leases.add(lease)
        if mine:
            log.info("leases_adopted", count=len(mine))

    async def settle(self, report: Report) -> None:
        """Settle a report for another dispatcher. What it is about is read from the database, not from the runner."""
        async with self._lock:
            mine = {end.token: self._adopted.pop(end.token) for end in report.ends if end.token in self._adopted}
        leases = {token: lease for token, (lease, _) in mine.items()}
        missing = [end.token for end in report.ends if end.token not in leases]
        if missing:
            found = await fleet_leases.read_leases(self._pool, missing)
            read = [lease for lease in found if lease.step_id in self._executors]
            await self._names.learn(read)
            leases |= {lease.token: lease for lease in read}
        for end in report.ends:
            lease = leases.get(end.token)
            if lease is not None and end.n in lease.ns:
                self._settle(lease, end)

    def _settle(self, lease: Lease, end: TaskEnd) -> None:
        step = self._executors[lease.step_id].step
        attempt = Attempt(lease, end.n, self._clock.mark() - max(0.0, end.seconds))
        try:
            value = decode_outcome(end.outcome, step, self._pipelines)
            report_outcome(attempt, step, value)
            if isinstance(value, Wait):
                begin_wait(attempt, value, self._clock.stamp())
        except Released as released:
            attempt.fail("RELEASED", reason=str(released), retry_in=0.0, counts_as_attempt=False)
        except Exception as error:
            report_error(attempt, step, error)
        if step.waits and not isinstance(attempt.outcome, str):
            end_wait(attempt)
        self._report(attempt)

    def take_silent(self) -> list[Lease]:
        """The leases of which no runner has said for a while that it has them."""
        before = time.monotonic() - self._silent_s
        silent = [lease for lease, seen in self._adopted.values() if seen < before]
        for lease in silent:
            del self._adopted[lease.token]
        return silent
