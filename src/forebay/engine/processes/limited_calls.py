"""Limited functions for code outside of steps, such as an API request with an untrusted file."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from forebay.engine.declare.context import Context
from forebay.engine.processes.pool import REPEATED_FROM, ProcessPool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.engine.declare.context import Progress
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource
    from forebay.settings import Settings
    from forebay.types import Mapped

P = ParamSpec("P")
R = TypeVar("R")


class LimitedCalls:
    """Runs limited functions; idle child processes are kept for a minute."""

    def __init__(self, pool: ProcessPool) -> None:
        self._pool = pool

    async def call(self, limited: Limited[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function and return its result.

        Raises: what the function raises; DataError if it exceeds its memory or time limit.
        """
        # There is no retry, so the first overrun is already reported as a fault of the file.
        ctx = Context(0, 0, 0, limited.label, REPEATED_FROM, 0, _NoServices())
        answer: R = await self._pool.run(limited, ctx, args, kwargs)
        return answer


class _NoServices:
    """There is no task whose progress could be recorded. The other services are for steps only."""

    def report_progress(self, ctx: Context, progress: Progress) -> None:
        pass

    async def get(self, resource: Resource[Any]) -> Any:
        raise RuntimeError

    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any:
        raise RuntimeError

    def transaction(self, ctx: Context) -> Any:
        raise RuntimeError

    def children(self, ctx: Context, mapped: Mapped) -> Any:
        raise RuntimeError


@asynccontextmanager
async def open_limited_calls(settings: Settings) -> AsyncGenerator[LimitedCalls]:
    """Child processes end with the block; running ones are killed."""
    pool = ProcessPool(keep_idle=0, sandbox=settings.sandbox or "preferred")
    try:
        yield LimitedCalls(pool)
    finally:
        await pool.close()
