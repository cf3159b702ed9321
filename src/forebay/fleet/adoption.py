"""What dispatchers that have died have left: their leases are kept while runners work for them, and their reports are
settled, by one of the others.

A dispatcher is dead if the database says so: a broker that stops makes all of them silent, but none of them dead.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.engine.db import leases as fleet_leases
from forebay.engine.db import tasks
from forebay.engine.db.limits import adopt_slots
from forebay.engine.limits.client import Permits
from forebay.engine.work.arguments import input_parser
from forebay.engine.work.attempt import Attempt, begin_wait, end_wait, report_error, report_outcome
from forebay.fleet.credits import worker_of
from forebay.fleet.outcomes import Released, decode_outcome
from forebay.fleet.port import BrokerUnavailable
from forebay.log import get_logger
from forebay.types import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.executor import StepExecutor
    from forebay.engine.work.leases import LeaseBook
    from forebay.engine.work.step_names import StepNames
    from forebay.engine.work.task_infos import TaskInfos
    from forebay.fleet.port import DispatcherPort, HeldOffer, Report, TaskEnd

log = get_logger("dispatcher")

_KEEP_S = 60.0  # that reports are read after a runner has last said that it has an offer


@dataclass(slots=True, eq=False)
class AdoptedLease:
    """A lease that this dispatcher has taken over."""

    lease: Lease
    offer: str
    runner: str  # that has the offer
    permits: Permits  # of the offer; with one of its leases
    seen: float = field(default_factory=time.monotonic)  # when the runner last said so


class Adoption:
    """The dispatchers for which this one reads the reports, and the leases that it has taken over."""

    def __init__(  # noqa: PLR0913 - it is wired once
        self,
        pool: Pool,
        worker_id: int,
        clock: Clock,
        port: DispatcherPort,
        *,
        executors: Mapping[int, StepExecutor],
        leases: LeaseBook,
        limits: LimitClient,
        names: StepNames,
        infos: TaskInfos,
        pipelines: Sequence[Pipeline[Any]],
        report: Callable[[Attempt], None],
        drop: Callable[[str, str], None],
        lost_s: float,
        silent_s: float,
    ) -> None:
        """`drop` tells a runner to drop an offer. A dispatcher is dead after `silent_s`, an offer that no runner has is
        lost after `lost_s`."""
        self._pool, self._worker_id, self._clock, self._port = pool, worker_id, clock, port
        self._executors = executors
        self._leases = leases
        self._limits = limits
        self._names = names
        self._infos = infos
        self._pipelines = {pipeline.name: pipeline for pipeline in pipelines}
        self._report = report
        self._tell_to_drop = drop
        self._lost_s, self._silent_s = lost_s, silent_s
        self._adopted: dict[int, AdoptedLease] = {}  # by token
        self._dead: dict[str, float] = {}  # dispatchers, and when a runner last had an offer
        self._read: set[str] = set()  # those whose reports are read here
        self._alive: set[str] = set()  # what was found to be no dead dispatcher, for a moment
        self._lock = asyncio.Lock()

    @property
    def dispatchers(self) -> Collection[str]:
        """Those that are dead."""
        return self._dead.keys()

    def places(self) -> dict[int, int]:
        """The tasks of adopted leases: items by token."""
        return {token: adopted.lease.first_n for token, adopted in self._adopted.items()}

    # -- from runners ----------------------------------------------------------------------------------------------

    async def note_held(self, runner: str, held: Sequence[HeldOffer]) -> None:
        """Take over what a runner has from dispatchers that are dead; it drops offers whose leases are gone."""
        await self._find_dead({offer.dispatcher for offer in held})
        offers = {token: offer for offer in held if offer.dispatcher in self._dead for token in offer.tokens}
        now = time.monotonic()
        for token, offer in offers.items():
            self._dead[offer.dispatcher] = now
            if (adopted := self._adopted.get(token)) is not None:
                adopted.seen, adopted.runner = now, runner
        if unknown := offers.keys() - self._adopted.keys():
            async with self._lock:
                await self._adopt(runner, {token: offers[token] for token in unknown - self._adopted.keys()})
            await self._drop_gone(runner, offers, unknown - self._adopted.keys())

    async def _find_dead(self, names: set[str]) -> None:
        """Find those that are dead. What runners make up is not known to the database."""
        asked = {name: worker_of(name) for name in names - self._dead.keys() - self._alive}
        known = {name: worker for name, worker in asked.items() if worker is not None}
        if not known:
            return
        now = self._clock.stamp()
        dead = await fleet_leases.find_dead_dispatchers(self._pool, known, silent_s=self._silent_s, now=now)
        self._alive |= known.keys() - dead
        self._dead |= dict.fromkeys(dead, time.monotonic())

    async def _adopt(self, runner: str, offers: Mapping[int, HeldOffer]) -> None:
        found = await fleet_leases.adopt_leases(
            self._pool,
            self._worker_id,
            list(offers),
            steps=list(self._executors),
            silent_s=self._silent_s,
            lease_s=self._leases.length.value,
            now=self._clock.stamp(),
        )
        await self._names.learn(found)
        await self._infos.learn(found)
        permits = await self._enter_limits(found, offers)
        for lease in found:
            offer = offers[lease.token]
            self._adopted[lease.token] = AdoptedLease(lease, offer.id, runner, permits.pop(offer.id, Permits()))
            self._leases.add(lease)
        if found:
            log.info("leases_adopted", count=len(found))
        for name in {offers[lease.token].dispatcher for lease in found} - self._read:
            await self._port.adopt(name)
            self._read.add(name)
            log.warning("dispatcher_adopted", dispatcher=name)

    async def _enter_limits(self, leases: Sequence[Lease], offers: Mapping[int, HeldOffer]) -> dict[str, Permits]:
        """Count calls that run already in the limits of their steps, by offer."""
        permits: dict[str, Permits] = {}
        try:
            for lease in {offers[lease.token].id: lease for lease in leases}.values():
                step = self._executors[lease.step_id].step
                if any(limit.concurrency is not None for limit in step.limits):
                    text, _ = await tasks.read_task(self._pool, lease.job_id, lease.first_n)
                    value = input_parser(step)(text)
                    permits[offers[lease.token].id] = self._limits.take_over(step.limits, value, lease.task)
            if permits:
                dead = {worker_of(offers[lease.token].dispatcher) for lease in leases}
                await adopt_slots(self._pool, self._worker_id, [worker for worker in dead if worker is not None])
        except BaseException:
            for entered in permits.values():
                self._limits.release(entered)
            raise
        if permits:
            await self._limits.renew()
        return permits

    def _forget(self, token: int) -> Lease | None:
        adopted = self._adopted.pop(token, None)
        if adopted is None:
            return None
        self._limits.release(adopted.permits)
        return adopted.lease

    async def _drop_gone(self, runner: str, offers: Mapping[int, HeldOffer], missing: set[int]) -> None:
        """Tell a runner to drop the offers of which no lease exists any more."""
        if not missing:
            return
        exist = {lease.token for lease in await fleet_leases.read_leases(self._pool, self._worker_id, list(missing))}
        gone = missing - exist
        for offer in {offers[token].id: offers[token] for token in gone}.values():
            if gone.issuperset(offer.tokens):
                self._tell_to_drop(runner, offer.id)

    async def settle(self, report: Report) -> None:
        """Settle a report for another dispatcher. What it is about is read from the database, not from the runner."""
        async with self._lock:
            forgotten = {end.token: self._forget(end.token) for end in report.ends}
        leases = {token: lease for token, lease in forgotten.items() if lease is not None}
        if missing := forgotten.keys() - leases.keys():
            found = await fleet_leases.read_leases(self._pool, self._worker_id, list(missing))
            read = [lease for lease in found if lease.step_id in self._executors]
            await self._names.learn(read)
            leases |= {lease.token: lease for lease in read}
        for end in report.ends:
            lease = leases.get(end.token)
            if lease is not None and end.n in lease.ns:
                self._settle(lease, end)

    def _settle(self, lease: Lease, end: TaskEnd) -> None:
        step = self._executors[lease.step_id].step
        attempt = Attempt(lease, end.n, self._clock.mark() - end.seconds)
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

    # -- what ends -------------------------------------------------------------------------------------------------

    def drop(self, step_id: int, is_meant: Callable[[Lease], bool], why: str) -> int:
        """Drop adopted leases of a step that are cancelled or lost, with the other tasks of their offers; return how
        many."""
        here = [adopted for adopted in self._adopted.values() if adopted.lease.step_id == step_id]
        meant = {adopted.lease.token for adopted in here if is_meant(adopted.lease)}
        offers = {(adopted.runner, adopted.offer) for adopted in here if adopted.lease.token in meant}
        for adopted in here:
            if (adopted.runner, adopted.offer) in offers:
                self._forget(adopted.lease.token)
                self._end(adopted.lease, why if adopted.lease.token in meant else "")
        for runner, offer in offers:
            self._tell_to_drop(runner, offer)
        return len(meant)

    def _end(self, lease: Lease, why: str) -> None:
        """Report the tasks of a lease that was dropped; nothing if it is lost."""
        if why == "lost":
            return
        for n in lease.ns:
            attempt = Attempt(lease, n, self._clock.mark())
            if why == "cancelled":
                attempt.fail("CANCELLED", reason="cancelled while running", ends_item=True)
            else:
                reason = "released by the worker (another task of its batch was stopped)"
                attempt.fail("RELEASED", reason=reason, retry_in=0.0, counts_as_attempt=False)
            self._report(attempt)

    def take_silent(self) -> list[Lease]:
        """The leases of which no runner has said for a while that it has them."""
        before = time.monotonic() - self._lost_s
        silent = [adopted.lease for adopted in self._adopted.values() if adopted.seen < before]
        for lease in silent:
            self._forget(lease.token)
        return silent

    async def release(self, names: Collection[str]) -> None:
        """Read the reports of these dispatchers no longer: they live, or another one reads them."""
        for name in [name for name in names if name in self._dead]:
            del self._dead[name]
            if name not in self._read:
                continue
            self._read.discard(name)
            log.info("dispatcher_released", dispatcher=name)
            try:
                await self._port.release(name)
            except BrokerUnavailable as error:
                log.debug("release_incomplete", dispatcher=name, error=str(error))

    async def release_unused(self) -> None:
        """Read the reports no longer of dispatchers for which no runner works any more."""
        self._alive.clear()
        before = time.monotonic() - _KEEP_S
        await self.release([name for name, seen in self._dead.items() if seen < before])
