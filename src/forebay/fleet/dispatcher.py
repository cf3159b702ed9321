"""The dispatcher: a worker whose steps run at runners, which it reaches through a broker."""

from __future__ import annotations

import secrets
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from forebay.db.pool import CONFLICT, UNAVAILABLE
from forebay.engine.db import leases as fleet_leases
from forebay.engine.db import tasks
from forebay.engine.loops import every
from forebay.engine.work.step_names import StepNames
from forebay.engine.work.worker import Worker
from forebay.errors import DatabaseUnavailable, NotFoundError, one_line
from forebay.fleet.adoption import Adoption
from forebay.fleet.credits import FleetMembers, StepCredits
from forebay.fleet.fleet_status import FleetStatus
from forebay.fleet.offerable import why_not_offered
from forebay.fleet.offering import OfferingRuntime
from forebay.fleet.offers import Offers
from forebay.fleet.port import Beat, BrokerUnavailable, TaskInput
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from forebay.engine.db.registry import RegisteredVersion
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.step import Step
    from forebay.fleet.port import DispatcherPort, InputRequest, Report

log = get_logger("dispatcher")


class Dispatcher(Worker):
    """Claims, limits, leases and settles the steps that a fleet can run; runners run them."""

    def __init__(self, dsn: str, pipelines: Any, port: DispatcherPort, **options: Any) -> None:
        super().__init__(dsn, pipelines, **options)
        self._port = port
        self._offers = Offers(port, self._pipelines, self.clock)
        self._make_runtime = partial(OfferingRuntime, offers=self._offers)
        self._beat_s = min(1.0, self.settings.lease_floor_s / 8)
        self._silent_s = self.settings.lease_floor_s
        self._members = FleetMembers(max(3 * self._beat_s, self._silent_s / 2))
        self._expiring: dict[int, Lease] = {}  # leases that were told to expire, and are still there
        self._fleet = FleetStatus(self._offers, self._members)

    def _steps(self) -> list[Step[Any, Any]]:
        return [step for step in super()._steps() if why_not_offered(step) is None]

    def _assemble(self, versions: dict[str, RegisteredVersion]) -> None:
        super()._assemble(versions)
        self._offers.name = f"{self.worker_id}-{secrets.token_hex(4)}"
        self._claimer.claim_with(fleet_leases.claim_apart)
        self._status.more["fleet"] = self._fleet.describe
        self._adoption = Adoption(
            self._pool,
            self.worker_id,
            self.clock,
            self._port,
            executors=self._executors,
            leases=self._leases,
            names=StepNames(self._pool, [v.id for v in versions.values()], 2 * self.settings.command_timeout_s),
            pipelines=self._pipelines,
            report=self._reports.add,
            silent_s=self._silent_s,
        )

    async def _work(self) -> None:
        labels = [executor.step.label for executor in self._executors.values()]
        await self._port.open(self._offers.name, labels, self._read_input)
        log.info("dispatcher_started", dispatcher=self._offers.name, steps=labels)
        try:
            await super()._work()
        finally:
            await self._port.close()

    def _loops(self) -> list[tuple[str, Coroutine[Any, Any, None]]]:
        return [
            *super()._loops(),
            ("offers", self._offers.run()),
            ("reports", self._read_reports()),
            ("beats", self._read_beats()),
            ("beat", every(self._beat_s, "beat", self._beat)),
            ("watch", every(self._silent_s / 4, "watch", self._watch)),
        ]

    # -- from the broker -------------------------------------------------------------------------------------------

    async def _read_reports(self) -> None:
        async for reports in self._port.reports():
            for report in reports:
                if not self._offers.note_report(report):
                    await self._isolated(self._settle_other(report))

    async def _settle_other(self, report: Report) -> None:
        if report.dispatcher != self._offers.name:
            await self._adoption.settle(report)

    async def _read_beats(self) -> None:
        async for beat in self._port.beats():
            if beat.sender == self._offers.name:
                self._fleet.note_echo()
                continue
            self._members.note(beat)
            for held in beat.held:
                if held.dispatcher == self._offers.name:
                    self._offers.note_held(beat.sender, held)
            others = [held for held in beat.held if self._members.is_dead(held.dispatcher)]
            if others := [held for held in others if held.dispatcher != self._offers.name]:
                await self._isolated(self._adoption.note_held(others))
            await self._write_progress(beat)
            if beat.slots is not None or beat.is_last:
                self._set_credits()

    async def _isolated(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something for another dispatcher, which a lease protects: if it fails, the lease runs out."""
        try:
            await work
        except (*UNAVAILABLE, *CONFLICT, DatabaseUnavailable, BrokerUnavailable) as error:
            log.warning("adoption_failed", error=one_line(error))

    async def _write_progress(self, beat: Beat) -> None:
        notes = [(held.tokens[0], held.progress) for held in beat.held if held.progress]
        known = {task.token: task.n for out in self._offers.open.values() for task in out.offer.tasks} if notes else {}
        mine = [(token, known[token], to_json(_clean(note)).decode()) for token, note in notes if token in known]
        if mine:
            tokens, ns, texts = zip(*mine, strict=True)
            await self._isolated(self._report_progress(tokens, ns, texts))

    async def _report_progress(self, tokens: Any, ns: Any, texts: Any) -> None:
        await tasks.report_progress(self._pool, tokens, ns, texts, self.clock.stamp())

    async def _read_input(self, request: InputRequest) -> TaskInput | None:
        out = self._offers.open.get(request.offer)
        for task in () if out is None else out.offer.tasks:
            if (task.token, task.n) == (request.token, request.n):
                try:
                    return TaskInput(*await tasks.read_task(self._pool, task.job_id, task.n))
                except NotFoundError:
                    return None
        return None

    # -- periodic tasks --------------------------------------------------------------------------------------------

    def _set_credits(self) -> None:
        changed = False
        for executor in self._executors.values():
            known = executor.concurrency
            assert isinstance(known, StepCredits)  # noqa: S101 - made by OfferingRuntime
            slots = self._members.slots(executor.step.label)
            changed = changed or slots > known.slots
            known.slots = slots
            if changed:
                executor.start_slots()
        if changed:
            self._claimer.on_capacity()

    async def _beat(self) -> None:
        self._members.forget_silent()
        self._set_credits()
        try:
            await self._port.beat(Beat(self._offers.name, is_dispatcher=True))
        except BrokerUnavailable as error:
            log.debug("beat_not_sent", error=str(error))

    async def _watch(self) -> None:
        """Find offers that no runner has any longer."""
        before = time.monotonic() - self._silent_s
        lost: dict[int, Lease] = {}
        for out in list(self._offers.open.values()):
            if out.is_lost or out.seen >= before:
                continue
            if out.runner is None:  # no runner has said that it has taken it
                for attempt in out.attempts:
                    attempt.end("no runner took it")
            else:
                log.warning("runner_lost", runner=out.runner, offer=out.offer.id)
                out.is_lost = True
                self._fleet.lost += 1
                lost |= {attempt.lease.token: attempt.lease for attempt in out.attempts}
        lost |= {lease.token: lease for lease in self._adoption.take_silent()}
        await self._expire(lost)

    async def _expire(self, lost: dict[int, Lease]) -> None:
        """Let leases expire, so that the loss counts. Their attempts end when the sweep has returned the tasks."""
        self._expiring |= lost
        if not self._expiring:
            return
        for lease in self._expiring.values():
            lease.held_since = float("inf")  # is not renewed
        await fleet_leases.end_leases(self._pool, self.worker_id, list(self._expiring), self.clock.stamp())
        held = set(await tasks.held_tokens(self._pool, self.worker_id))
        if gone := [token for token in self._expiring if token not in held]:
            for token in gone:
                del self._expiring[token]
            self._leases.note_renewal(gone, {})


def _clean(note: Any) -> dict[str, Any]:
    """The known fields of a progress that a runner reports."""
    fields = {"step": str, "note": str, "endsAt": str}
    numbers = ("fraction", "bytesDone", "bytesTotal", "bytesPerSecond")
    texts = {name: note[name][:200] for name in fields if isinstance(note.get(name), str)}
    return texts | {name: note[name] for name in numbers if isinstance(note.get(name), int | float)}
