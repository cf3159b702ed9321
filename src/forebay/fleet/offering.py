"""The runtime of a dispatcher: executors whose slots are those of the runners, and which offer instead of calling."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from forebay.engine.work.arguments import StepArguments
from forebay.engine.work.claim_size import ClaimSize
from forebay.engine.work.executor import StepExecutor
from forebay.engine.work.step_runtime import StepRuntime
from forebay.fleet.credits import StepCredits
from forebay.fleet.offered_tasks import RawTask
from forebay.tuning import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.db.pool import Pool
    from forebay.engine.db.tasks import Lease
    from forebay.engine.declare.step import Step
    from forebay.engine.work.attempt import Attempt
    from forebay.fleet.offers import Offers


class OfferingExecutor(StepExecutor):
    """The executor of a step that runs at runners."""

    concurrency: StepCredits
    drop_adopted: Callable[[Callable[[Lease], bool], str], int]  # leases that were taken over
    _beginning = 0  # slots that have not taken a task yet

    def __init__(self, *args: Any, count_taken: Callable[[], int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._count_taken = count_taken

    def describe(self) -> dict[str, Any]:
        """What runs at the runners, and for how long. The other offers wait, in the broker or at runners: whoever adds
        runners for them as for running tasks would get more offers, for which more runners would be added."""
        described, slots = super().describe(), math.ceil(self.concurrency.slots)
        running = min(self._count_taken(), slots * (self.step.batch_size or 1))
        return described | {
            "running": running,
            "offered": len(self.running) - running,
            "claim": described["claim"] | {"item_ms": milliseconds(self.concurrency.task_s.mean)},
            "concurrency": described["concurrency"] | {"limit": slots},
        }

    def capacity(self, share: float = 1.0) -> int:
        # The load of this machine is not that of the runners, which tell how many slots they have now.
        return super().capacity(1.0) if self.concurrency.value else 0

    def slots_at(self, share: float) -> int:
        return super().slots_at(1.0) if self.concurrency.value else 0

    @property
    def is_idle(self) -> bool:
        """A step without runners is not idle: nothing is claimed for it."""
        return self.concurrency.value > 0 and super().is_idle

    def start_slots(self) -> None:
        """Start a slot for each call that may be offered: a slot waits for its report."""
        self._filling.note_tasks()
        per_slot = self.step.batch_size or 1
        while self.queue.size > self._beginning * per_slot and len(self.slots) < self.concurrency.value:
            self._beginning += 1
            self._start(self._offer_next())
        self._refill_at = self.queue.size // 2

    def stop_overdue(self, now: float) -> None:
        """Stop offers that their runner should have ended, whatever kind of step it is."""
        for attempt in list(self.running):
            if attempt.deadline < now:
                attempt.end("timeout")

    async def _offer_next(self) -> None:
        self._beginning -= 1
        await self._slot()

    def _drop(self, is_meant: Callable[[Lease], bool], why: str) -> int:
        return super()._drop(is_meant, why) + self.drop_adopted(is_meant, why)


class RawArguments(StepArguments):
    """Arguments as they came with the lease. They are parsed here only where a limit or an order needs the value."""

    def __init__(self, step: Step[Any, Any], pool: Pool) -> None:
        super().__init__(step, pool)
        self._is_parsed = step.order is not None or any(limit.key is not None for limit in step.limits)

    def at_hand(self, lease: Lease, index: int) -> tuple[Any, ...] | None:
        text = lease.inputs[index]
        results = None if lease.results is None else lease.results[index]
        raw = RawTask(lease, lease.ns[index], text, results)
        if self._step.batch_size is not None:
            return (raw,)
        if not self._is_parsed:
            return (None, raw)
        parsed = super().at_hand(lease, index)
        return None if parsed is None else (parsed[0], raw)

    async def read(self, attempt: Attempt) -> tuple[Any, ...]:
        """Only a large input whose value is needed is read here."""
        parsed = await super().read(attempt)
        return (parsed[0], RawTask(attempt.lease, attempt.n, None, None))


class OfferingRuntime(StepRuntime):
    """Makes executors that offer."""

    def __init__(self, *args: Any, offers: Offers, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._offers = offers

    def executor(
        self, step: Step[Any, Any], step_id: int, *, report: Callable[[Attempt], None], **kwargs: Any
    ) -> OfferingExecutor:
        s = self._settings
        slots = StepCredits()
        call = self._offers.calling(step, slots)
        if self._spans is not None:
            call = self._spans.calling(step, call, lambda: self._executors[step_id].running)
            report = self._spans.reporting(step, report)
        return OfferingExecutor(
            step,
            step_id,
            count_taken=partial(self._offers.count_taken, step.label),
            call=call,
            arguments=RawArguments(step, self._pool),
            report=report,
            services=self._services,
            limits=self._limits,
            maps=self._maps,
            clock=self._clock,
            size=ClaimSize(slice_s=s.slice_ms / 1000, safety=s.claim_safety, least=s.claim_min, most=s.claim_max),
            concurrency=slots,
            **kwargs,
        )
