"""The offers of one dispatcher that are out, from the start of an attempt until its report."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.fleet.offered_tasks import RawTask, offered_tasks, payload_of
from forebay.fleet.outcomes import RESULTS, Released, decode_outcome
from forebay.fleet.port import BUNDLE_BYTES, BrokerUnavailable, Drop, Offer
from forebay.log import get_logger
from forebay.waits import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from forebay.engine.clock import Clock
    from forebay.engine.declare.pipeline import Pipeline
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.fleet.credits import StepCredits
    from forebay.fleet.port import DispatcherPort, HeldOffer, InputRequest, OfferedTask, Report, TaskEnd

log = get_logger("dispatcher")

# After a timeout, a runner has so long to say that it has ended the call. A process for a step may start in this time.
_OVERDUE_S = 60.0
_DROPS = 1000  # offers that are dropped by one message


@dataclass(slots=True, eq=False)
class OpenOffer:
    """An offer that has not been reported."""

    offer: Offer
    size: int  # bytes
    attempts: Sequence[Attempt]
    ends: asyncio.Future[dict[tuple[int, int], TaskEnd]]
    runner: str | None = None  # that has said that it has the offer
    seen: float = field(default_factory=time.monotonic)  # offered, or last in a beat
    is_running: bool = False
    is_lost: bool = False  # its leases were told to expire

    def begin(self) -> None:
        """Note that the call has begun. The runner ends it at the timeout; if it does not, it is hung."""
        if not self.is_running and self.offer.timeout is not None:
            deadline = time.monotonic() + self.offer.timeout + _OVERDUE_S
            for attempt in self.attempts:
                attempt.deadline = deadline
        self.is_running = True


class Offers:
    """Offers tasks, and passes their reports to the attempts that wait for them."""

    def __init__(self, port: DispatcherPort, pipelines: Sequence[Pipeline[Any]], clock: Clock) -> None:
        self.open: dict[str, OpenOffer] = {}
        self.name = ""  # of the dispatcher, as soon as it is known
        self._port = port
        self._pipelines: Mapping[str, Pipeline[Any]] = {pipeline.name: pipeline for pipeline in pipelines}
        self._clock = clock
        self._numbers = itertools.count(1)
        self._waiting: dict[str, list[OpenOffer]] = {}  # by step, not in the broker yet
        self._credits: dict[str, StepCredits] = {}
        self._news = asyncio.Event()
        self._drops: dict[str, list[str]] = {}  # offers to be dropped, by runner

    def calling(self, step: Step[Any, Any], slots: StepCredits) -> Callable[..., Awaitable[Any]]:
        """The call of a step: it offers the task, and returns or raises what the step did at the runner."""
        self._credits[step.label] = slots

        async def call_one(attempt: Attempt, _: object, raw: RawTask) -> Any:
            (end,) = await self._reported(step, [attempt], [raw])
            return self._returned(step, attempt, end)

        async def call_batch(first: Attempt, inputs: Sequence[Any]) -> list[Any]:
            raws = [each[0] if step.after else each for each in inputs]
            good = [attempt for attempt in first.batch if attempt.outcome is None]
            ends = await self._reported(step, good, raws)
            return [self._returned_of_batch(step, *pair) for pair in zip(good, ends, strict=True)]

        return call_one if step.batch_size is None else call_batch

    async def _reported(
        self, step: Step[Any, Any], attempts: Sequence[Attempt], raws: Sequence[RawTask]
    ) -> list[TaskEnd]:
        """How the tasks of one call have ended. They are in several offers if one message cannot hold them."""
        for attempt in attempts:
            attempt.deadline = float("inf")  # until a runner has begun
        calls = [self._reported_offer(step, *each) for each in offered_tasks(attempts, raws)]
        ends = [await calls[0]] if len(calls) == 1 else await asyncio.gather(*calls)
        return [end for some in ends for end in some]

    async def _reported_offer(
        self, step: Step[Any, Any], attempts: Sequence[Attempt], tasks: tuple[OfferedTask, ...], size: int
    ) -> list[TaskEnd]:
        offer = Offer(f"{self.name}:{next(self._numbers)}", self.name, step.label, tasks, step.timeout)
        out = OpenOffer(offer, size, attempts, asyncio.get_running_loop().create_future())
        self.open[offer.id] = out
        self._waiting.setdefault(step.label, []).append(out)
        self._news.set()
        try:
            ends = await out.ends
        except asyncio.CancelledError:  # of the task, of its job, or of the dispatcher
            self._withdraw(out)
            raise
        finally:
            del self.open[offer.id]
        return [ends[task.token, task.n] for task in tasks]

    def _returned(self, step: Step[Any, Any], attempt: Attempt, end: TaskEnd) -> Any:
        seconds = max(0.0, end.seconds)
        attempt.started = self._clock.mark() - seconds
        self._credits[step.label].note_run(seconds)
        try:
            return decode_outcome(end.outcome, step, self._pipelines)
        except Released as released:  # as if this process had stopped it
            attempt.stop = str(released)
            raise asyncio.CancelledError from released

    def _returned_of_batch(self, step: Step[Any, Any], attempt: Attempt, end: TaskEnd) -> Any:
        try:
            return self._returned(step, attempt, end)
        except Exception as error:  # of one item
            return error

    def _withdraw(self, out: OpenOffer) -> None:
        waiting = self._waiting.get(out.offer.step, [])
        if out in waiting:
            waiting.remove(out)
        elif out.runner is not None:
            self.drop(out.runner, out.offer.id)

    def drop(self, runner: str, offer: str) -> None:
        """Tell a runner soon that it must not work for an offer any longer."""
        self._drops.setdefault(runner, []).append(offer)
        self._news.set()

    # -- to the broker ---------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Send offers as they come; while the broker cannot be reached, they wait."""
        backoff = Backoff(0.05, 2)
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._send_all()
            except BrokerUnavailable as error:
                log.warning("offers_delayed", error=str(error), pause=backoff.grow())
                await asyncio.sleep(backoff.pause)
                self._news.set()
            else:
                backoff.reset()

    async def _send_all(self) -> None:
        sent = await asyncio.gather(
            *[self._send(step) for step, waiting in self._waiting.items() if waiting],
            *[self._tell(runner) for runner in list(self._drops)],
            return_exceptions=True,
        )
        for error in sent:
            if error is not None:
                raise error

    async def _send(self, step: str) -> None:
        waiting = self._waiting[step]
        bundles: list[list[OpenOffer]] = []
        while waiting:
            bundle = _bundle(waiting, self._credits[step].together)
            del waiting[: len(bundle)]
            bundles.append(bundle)
        results = await asyncio.gather(
            *[self._port.offer(step, [out.offer for out in bundle]) for bundle in bundles], return_exceptions=True
        )
        for bundle, error in zip(bundles, results, strict=True):
            if error is None:
                _note_sent(bundle)
        failed = [(bundle, error) for bundle, error in zip(bundles, results, strict=True) if error is not None]
        delayed = [(bundle, error) for bundle, error in failed if isinstance(error, BrokerUnavailable)]
        waiting[:0] = [out for bundle, _ in delayed for out in bundle if not out.ends.done()]
        for bundle, error in failed:
            if not isinstance(error, BrokerUnavailable):
                _fail(bundle, error)
        if delayed:
            raise delayed[0][1]

    async def _tell(self, runner: str) -> None:
        offers = self._drops.pop(runner)
        for begin in range(0, len(offers), _DROPS):
            await self._port.tell(runner, Drop(tuple(offers[begin : begin + _DROPS])))

    # -- from the broker -------------------------------------------------------------------------------------------

    def note_held(self, runner: str, held: HeldOffer) -> None:
        """Note that a runner has an offer of this dispatcher; it drops what is not out any more."""
        out = self.open.get(held.id)
        if out is None:
            self.drop(runner, held.id)
        elif not out.is_lost:
            out.runner, out.seen = runner, time.monotonic()
            if held.is_running:
                out.begin()

    def payload_for(self, request: InputRequest) -> str | None:
        """The payload of the signal that a task has waited for, as JSON; None if there is none."""
        out = self.open.get(request.offer)
        for attempt in () if out is None else out.attempts:
            if (attempt.token, attempt.n) == (request.token, request.n) and attempt.signal is not None:
                return payload_of(attempt.signal)
        return None

    def note_report(self, report: Report) -> bool:
        """Pass a report on; False if its offer is not out."""
        out = self.open.get(report.offer)
        if out is None:
            return False
        ends = {(end.token, end.n): end for end in report.ends}
        if ends.keys() != {(task.token, task.n) for task in out.offer.tasks}:
            log.warning("report_refused", offer=report.offer, runner=report.runner)
        elif not out.ends.done():
            self._learn(out.offer, report)
            out.ends.set_result(ends)
        return True

    def _learn(self, offer: Offer, report: Report) -> None:
        measured = self._credits[offer.step].task_s
        for end in report.ends:
            if end.outcome.get("kind") in RESULTS:
                measured.add(max(0.0, end.seconds) / len(offer.tasks))

    @property
    def steps(self) -> Collection[str]:
        """The steps that are offered."""
        return self._credits.keys()

    def count_taken(self, step: str) -> int:
        """How many tasks of a step are at runners, as far as their beats say."""
        out = (each for each in self.open.values() if each.offer.step == step)
        return sum(len(each.offer.tasks) for each in out if each.runner is not None and not each.is_lost)


def _note_sent(bundle: Sequence[OpenOffer]) -> None:
    """Runners have as long to take it as they count it as fresh."""
    for out in bundle:
        if out.runner is None:
            out.seen = time.monotonic()


def _fail(bundle: Sequence[OpenOffer], error: BaseException) -> None:
    """Let the tasks of a bundle fail that the broker does not take, however often it is sent."""
    for out in bundle:
        if not out.ends.done():
            out.ends.set_exception(error)


def _bundle(waiting: Sequence[OpenOffer], most: int) -> list[OpenOffer]:
    bundle, size = [waiting[0]], waiting[0].size
    for out in waiting[1:most]:
        size += out.size
        if size > BUNDLE_BYTES:
            break
        bundle.append(out)
    return bundle
