"""Limited functions for code outside of steps, such as a request of the API that brings an untrusted file."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from forebay.engine.declare.context import Context
from forebay.engine.processes.pool import SURELY, ProcessPool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.engine.declare.context import Progress
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource
    from forebay.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")


class LimitedCalls:
    """Runs limited functions one by one; children are kept for a minute."""

    def __init__(self, pool: ProcessPool) -> None:
        self._pool = pool

    async def call(self, limited: Limited[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function returns.

        Raises: what the function raises; DataError when it needs more memory or time than it may.
        """
        # Nobody tries again by themselves: the first overrun is told as what it is, one of the file.
        ctx = Context(0, 0, 0, limited.label, SURELY, 0, _NoServices())
        answer: R = await self._pool.run(limited, ctx, args, kwargs)
        return answer


class _NoServices:
    """There is no task whose progress could be noted. The rest is for steps: a limited function gets no context."""

    def note(self, ctx: Context, told: Progress) -> None:
        pass

    async def get(self, resource: Resource[Any]) -> Any:
        raise RuntimeError

    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any:
        raise RuntimeError


@asynccontextmanager
async def open_limited_calls(settings: Settings) -> AsyncGenerator[LimitedCalls]:
    """Children end with the block, running ones are killed."""
    pool = ProcessPool(keep_idle=0, sandbox=settings.sandbox or "preferred")
    try:
        yield LimitedCalls(pool)
    finally:
        await pool.close()
