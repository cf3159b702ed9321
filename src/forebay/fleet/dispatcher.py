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
from forebay.engine.work.slices import wait_for_first
from forebay.engine.work.step_names import StepNames
from forebay.engine.work.task_infos import TaskInfos
from forebay.engine.work.worker import Worker
from forebay.errors import DatabaseUnavailable, NotFoundError, one_line
from forebay.fleet.adoption import Adoption
from forebay.fleet.credits import FleetMembers, StepCredits
from forebay.fleet.fleet_status import FleetStatus
from forebay.fleet.offerable import why_not_offered
from forebay.fleet.offering import OfferingExecutor, OfferingRuntime
from forebay.fleet.offers import Offers
from forebay.fleet.port import Beat, BrokerUnavailable, InputUnavailable, TaskInput
from forebay.fleet.progress import checked_progress
from forebay.log import get_logger
from forebay.waits import Backoff, wait_for

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
        self._lost_s = self.settings.lease_floor_s
        # Shorter than a lease lasts: those of a dispatcher that has died must not expire before they are taken over.
        self._silent_s = max(3 * self._beat_s, self._lost_s / 2)
        self._members = FleetMembers(self._silent_s)
        self._fleet = FleetStatus(self._offers, self._members)
        self._expiring: dict[int, Lease] = {}  # leases that were told to expire, and are still there

    def _steps(self) -> list[Step[Any, Any]]:
        return [step for step in super()._steps() if why_not_offered(step) is None]

    def _assemble(self, versions: dict[str, RegisteredVersion]) -> None:
        super()._assemble(versions)
        self._offers.name = self._members.name = name = f"{self.worker_id}-{secrets.token_hex(4)}"
        self._members.steps = frozenset(executor.step.label for executor in self._executors.values())
        self._status.more |= {"dispatcher": lambda: name, "fleet": self._fleet.describe}  # so that others know it
        self._claimer.claim_with(fleet_leases.claim_apart)
        steps = {step_id: executor.step for step_id, executor in self._executors.items()}
        self._adoption = Adoption(
            self._pool,
            self.worker_id,
            self.clock,
            self._port,
            executors=self._executors,
            leases=self._leases,
            limits=self._limits,
            infos=TaskInfos(self._pool, steps, 2 * self.settings.command_timeout_s),
            names=StepNames(self._pool, [v.id for v in versions.values()], 2 * self.settings.command_timeout_s),
            pipelines=self._pipelines,
            report=self._reports.add,
            drop=self._offers.drop,
            lost_s=self._lost_s,
            silent_s=self._silent_s,
        )
        for step_id, executor in self._executors.items():
            assert isinstance(executor, OfferingExecutor)  # noqa: S101 - made by OfferingRuntime
            executor.drop_adopted = partial(self._adoption.drop, step_id)

    async def _work(self) -> None:
        try:
            if await self._open():
                await super()._work()
                await self._send_beat(is_last=True)
            else:
                await self._report_status(stopped=True)
        finally:
            await self._port.close()

    async def _open(self) -> bool:
        """Wait for the broker; return False if this dispatcher is stopped before."""
        labels = [executor.step.label for executor in self._executors.values()]
        backoff = Backoff(0.2, 5)
        while not self._stopping.is_set():
            # The others know it before its first offer, and it counts as alive while it waits.
            await self._report_status()
            try:
                await wait_for_first(
                    self._port.open(self._offers.name, labels, self._read_input), self._wait_until_stopping()
                )
            except BrokerUnavailable as error:
                log.warning("broker_awaited", reason=str(error), next_try_s=backoff.grow())
                await wait_for(self._stopping, backoff.pause)
                continue
            if not self._stopping.is_set():
                log.info("dispatcher_started", dispatcher=self._offers.name, steps=labels)
                return True
        return False

    async def _wait_until_stopping(self) -> None:
        await self._stopping.wait()

    async def _report_status(self, *, stopped: bool = False) -> None:
        try:
            await self._status.write(stopped=stopped)
        except (*UNAVAILABLE, *CONFLICT, DatabaseUnavailable) as error:
            log.warning("status_not_written", error=one_line(error))

    def _loops(self) -> list[tuple[str, Coroutine[Any, Any, None]]]:
        return [
            *super()._loops(),
            ("offers", self._offers.run()),
            ("reports", self._read_reports()),
            ("beats", self._read_beats()),
            ("beat", every(self._beat_s, "beat", self._beat)),
            ("watch", every(self._lost_s / 4, "watch", self._watch)),
        ]

    # -- from the broker -------------------------------------------------------------------------------------------

    async def _read_reports(self) -> None:
        async for reports in self._port.reports():
            for report in reports:
                await self._isolated("report", report.runner, self._note_report(report))

    async def _note_report(self, report: Report) -> None:
        if not self._offers.note_report(report):
            await self._adoption.settle(report)

    async def _read_beats(self) -> None:
        async for beat in self._port.beats():
            if beat.sender == self._offers.name:
                self._members.note(beat)
            else:
                await self._isolated("beat", beat.sender, self._note_beat(beat))

    async def _note_beat(self, beat: Beat) -> None:
        self._members.note(beat)
        for held in beat.held:
            if held.dispatcher == self._offers.name:
                self._offers.note_held(beat.sender, held)
        if beat.slots is not None or beat.is_last:
            self._set_credits()
        await self._write_progress(beat)
        if beat.is_dispatcher and beat.sender in self._adoption.dispatchers and not beat.is_last:
            await self._adoption.release([beat.sender])
        silent = [held for held in beat.held if self._members.is_silent(held.dispatcher)]
        if silent and self._members.is_first():
            await self._adoption.note_held(beat.sender, silent)

    async def _isolated(self, kind: str, sender: str, work: Coroutine[Any, Any, None]) -> None:
        """Handle one message. If that fails, the next one is read: leases protect what this one was about."""
        try:
            await work
        except (*UNAVAILABLE, *CONFLICT, DatabaseUnavailable, BrokerUnavailable) as error:
            log.warning("message_not_handled", kind=kind, sender=sender, error=one_line(error))
        except Exception as error:
            log.exception("message_not_handled", kind=kind, sender=sender, error=one_line(error))

    async def _write_progress(self, beat: Beat) -> None:
        notes = [(held.tokens[0], held.progress) for held in beat.held if held.progress]
        if not notes:
            return
        known = {task.token: task.n for out in self._offers.open.values() for task in out.offer.tasks}
        known |= self._adoption.places()
        mine = [
            (token, known[token], to_json(checked_progress(note)).decode()) for token, note in notes if token in known
        ]
        if mine:
            tokens, ns, texts = zip(*mine, strict=True)
            await tasks.report_progress(self._pool, tokens, ns, texts, self.clock.stamp())

    async def _read_input(self, request: InputRequest) -> TaskInput | None:
        """Raises: InputUnavailable."""
        out = self._offers.open.get(request.offer)
        for task in () if out is None else out.offer.tasks:
            if (task.token, task.n) == (request.token, request.n):
                try:
                    read = await tasks.read_task(self._pool, task.job_id, task.n)
                    return TaskInput(*read, self._offers.payload_for(request))
                except NotFoundError:
                    return None
                except (*UNAVAILABLE, *CONFLICT, DatabaseUnavailable) as error:
                    raise InputUnavailable(one_line(error)) from error
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
        await self._send_beat()

    async def _send_beat(self, *, is_last: bool = False) -> None:
        slots = dict.fromkeys(self._members.steps, 0)
        try:
            await self._port.beat(Beat(self._offers.name, is_dispatcher=True, slots=slots, is_last=is_last))
        except BrokerUnavailable as error:
            log.debug("beat_not_sent", error=str(error))

    async def _watch(self) -> None:
        """Find offers that no runner has any longer."""
        before = time.monotonic() - self._lost_s
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
        await self._adoption.release_unused()
        if not self._members.is_first():
            await self._adoption.release(list(self._adoption.dispatchers))

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
