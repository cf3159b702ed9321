"""The runtime of steps: threads, processes, resources, transactions and traces, and how the executors use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.engine.declare.resources import Resources
from forebay.engine.processes.pool import ProcessPool
from forebay.engine.work.arguments import StepArguments
from forebay.engine.work.claim_size import ClaimSize
from forebay.engine.work.executor import StepExecutor
from forebay.engine.work.hook_calls import HookCalls
from forebay.engine.work.maps import Maps
from forebay.engine.work.progress import ProgressBook
from forebay.engine.work.step_calls import WorkerServices, call_of
from forebay.engine.work.threads import Threads, threads_needed
from forebay.engine.work.transactions import StepTransactions
from forebay.telemetry import tracing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from forebay.db.pool import Pool
    from forebay.engine.clock import Clock
    from forebay.engine.declare.resources import Resource
    from forebay.engine.declare.step import Step
    from forebay.engine.limits.client import LimitClient
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.settler import Settler
    from forebay.engine.work.slot_scheduler import SlotScheduler
    from forebay.engine.work.spans import Spans
    from forebay.settings import Settings


class StepRuntime:
    """What the steps of one worker run on."""

    def __init__(  # noqa: PLR0913 - it is wired once
        self,
        pool: Pool,
        step_pool: Pool,
        settings: Settings,
        clock: Clock,
        *,
        steps: Sequence[Step[Any, Any]],
        executors: Mapping[int, StepExecutor],
        limits: LimitClient,
        settler: Settler,
        spans: Spans | None,
        replaced: Mapping[Resource[Any], Resource[Any]] | None,
    ) -> None:
        """`step_pool` has the connections of transactions. `replaced`: substitutes of resources, for tests."""
        self._pool = pool
        self._settings = settings
        self._clock = clock
        self._executors = executors
        self._limits = limits
        self._spans = spans
        self.threads = Threads(most=threads_needed(steps, settings.owner_reserve))
        self._processes = ProcessPool(sandbox=settings.sandbox or "preferred")
        self.progress = ProgressBook(pool, clock)
        self.resources = Resources(settings, pool, limits, replaced)
        self.transactions = StepTransactions(step_pool, settler, executors, longest=settings.command_timeout_s)
        self._services = WorkerServices(self.progress, self.resources, self._processes, self.transactions, pool)
        self._maps = Maps(pool, clock)

    def executor(
        self,
        step: Step[Any, Any],
        step_id: int,
        *,
        report: Callable[[Attempt], None],
        on_capacity: Callable[[], None],
        on_ended: Callable[[int, int, float], None],
        on_dropped: Callable[[int, int], None],
        scheduler: SlotScheduler,
    ) -> StepExecutor:
        """The executor of a step, whose calls and reports pass its hooks and the traces."""
        s = self._settings
        with_context = self._spans is not None or bool(step.pipeline.hooks)
        call = call_of(step, self.threads, self._processes, with_context=with_context)
        if step.pipeline.hooks:
            hooks = HookCalls(step)
            call, report = hooks.calling(call), hooks.reporting(report)
        if self._spans is not None:
            call = self._spans.calling(step, call, lambda: self._executors[step_id].running)
            report = self._spans.reporting(step, report)
        return StepExecutor(
            step,
            step_id,
            call=call,
            arguments=StepArguments(step, self._pool),
            report=report,
            on_capacity=on_capacity,
            on_ended=on_ended,
            on_dropped=on_dropped,
            services=self._services,
            limits=self._limits,
            maps=self._maps,
            clock=self._clock,
            size=ClaimSize(slice_s=s.slice_ms / 1000, safety=s.claim_safety, least=s.claim_min, most=s.claim_max),
            scheduler=scheduler,
            reserve=s.owner_reserve,
        )

    async def close(self) -> None:
        await self.resources.close()
        await self._processes.close()
        self.threads.close()
        if self._spans is not None:
            self._spans.close()


def make_spans(pool: Pool, clock: Clock) -> Spans | None:
    """The traces of a worker; None if tracing is off."""
    tracer = tracing.tracer()
    if tracer is None:
        return None
    from forebay.engine.work.spans import Spans  # noqa: PLC0415 - needs an extra

    return Spans(tracer, pool, clock)
