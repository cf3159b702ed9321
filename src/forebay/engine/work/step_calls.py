"""How steps are called (on the event loop, on threads, in processes) and the services that they can call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from forebay.engine.declare.step import StepKind
from forebay.engine.submit import results

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Connection, Pool
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource, Resources
    from forebay.engine.declare.step import Step
    from forebay.engine.processes.pool import ProcessPool
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.progress import ProgressBook
    from forebay.engine.work.threads import Threads
    from forebay.engine.work.transactions import StepTransactions
    from forebay.types import ItemRecord, Mapped

T = TypeVar("T")
Call: TypeAlias = Callable[..., Awaitable[Any]]


def call_of(step: Step[Any, Any], threads: Threads, processes: ProcessPool, *, with_context: bool) -> Call:
    """The function that calls a step, by its kind; `with_context`: threads see the context variables of their
    attempt."""

    def in_process(ctx: Context, *args: Any) -> Awaitable[Any]:
        return processes.run(step, ctx, args)

    timeout = float("inf") if step.timeout is None else step.timeout

    def begin(attempt: Attempt, *args: Any) -> Any:
        attempt.begin_on_thread(timeout)
        return step.fn(attempt, *args)

    def on_thread(attempt: Attempt, *args: Any) -> Awaitable[Any]:
        return threads.run(begin, attempt, *args)

    def on_thread_with_context(attempt: Attempt, *args: Any) -> Awaitable[Any]:
        return threads.run(copy_context().run, begin, attempt, *args)

    match step.kind:
        case StepKind.ASYNC:
            return step.fn
        case StepKind.PROCESS:
            return in_process
        case StepKind.THREAD:
            return on_thread_with_context if with_context else on_thread


class WorkerServices:
    """The services of a worker for its running steps: progress, resources, functions in processes, transactions."""

    def __init__(
        self,
        progress: ProgressBook,
        resources: Resources,
        processes: ProcessPool,
        transactions: StepTransactions,
        pool: Pool,
    ) -> None:
        self.report_progress = progress.report_progress
        self._resources = resources
        self._processes = processes
        self._transactions = transactions
        self._pool = pool

    async def get(self, resource: Resource[T]) -> T:
        return await self._resources.get(resource)

    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any:
        return await self._processes.run(limited, ctx, args, kwargs)

    def transaction(self, ctx: Context) -> AbstractAsyncContextManager[Connection]:
        return self._transactions.block(cast("Attempt", ctx))

    def children(self, ctx: Context, mapped: Mapped) -> AsyncIterator[ItemRecord]:
        return results.items_of_map(self._pool, mapped)
