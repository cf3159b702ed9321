"""How steps are called: on the event loop, on threads, in processes of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeAlias

from forebay.engine.declare.policy import Kind

if TYPE_CHECKING:
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.pipeline import Step
    from forebay.engine.processes.pool import ProcessPool
    from forebay.engine.work.threads import Threads

Call: TypeAlias = Callable[..., Awaitable[Any]]


def call_of(step: Step[Any, Any], threads: Threads, processes: ProcessPool, *, with_context: bool) -> Call:
    """What calls a step, by its kind; `with_context`: threads see the context variables of their attempt."""

    def in_process(ctx: Context, *args: Any) -> Awaitable[Any]:
        return processes.run(step, ctx, args)

    def on_thread(ctx: Context, *args: Any) -> Awaitable[Any]:
        return threads.run(step.fn, ctx, *args)

    def on_thread_with_context(ctx: Context, *args: Any) -> Awaitable[Any]:
        return threads.run(copy_context().run, step.fn, ctx, *args)

    match step.kind:
        case Kind.ASYNC:
            return step.fn
        case Kind.PROCESS:
            return in_process
        case Kind.THREAD:
            return on_thread_with_context if with_context else on_thread
