"""Periodic loops: tick, jitter, retry after errors, stop on cancellation."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from forebay.db.pool import CONFLICT, UNAVAILABLE
from forebay.errors import DatabaseUnavailable, one_line
from forebay.log import get_logger
from forebay.waits import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = get_logger("loop")


async def every(
    seconds: float, name: str, tick: Callable[[], Awaitable[object]], *, longest: float = 30, jitter: float = 0.2
) -> None:
    """Call `tick` forever, with jitter in the pauses so that workers spread out. Errors are logged, and the pauses grow
    after them, by at most `longest` seconds."""
    backoff = Backoff(seconds, longest)
    while True:
        spread = random.uniform(1 - jitter, 1 + jitter) if jitter else 1.0  # noqa: S311
        await asyncio.sleep((seconds + backoff.pause) * spread)
        try:
            await tick()
        except (*UNAVAILABLE, *CONFLICT, DatabaseUnavailable) as error:  # expected: the next tick tries again
            log.warning("tick_failed", loop=name, error=one_line(error), pause=backoff.grow())
        except Exception as error:  # a bug in one tick must not stop the loop
            log.exception("tick_failed", loop=name, error=one_line(error), pause=backoff.grow())
        else:
            backoff.reset()
