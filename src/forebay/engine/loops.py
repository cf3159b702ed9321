"""Loops that repeat, written once: tick, jitter, survive a lost database, stop when told."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from forebay.db.pool import CONFLICT, UNAVAILABLE
from forebay.errors import one_line
from forebay.log import get_logger
from forebay.waits import Backoff

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = get_logger("loop")


async def every(seconds: float, name: str, tick: Callable[[], Awaitable[object]], *, longest: float = 30) -> None:
    """Ticks for ever, each pause a little random so that many workers spread out; trouble is logged and outlived, in
    pauses that grow by `longest` at most."""
    backoff = Backoff(seconds, longest)
    while True:
        await asyncio.sleep((seconds + backoff.pause) * random.uniform(0.8, 1.2))  # noqa: S311
        try:
            await tick()
        except UNAVAILABLE + CONFLICT as error:  # a repair that fails now is tried again; the work goes on meanwhile
            log.warning("tick_failed", loop=name, error=one_line(error), pause=backoff.grow())
        except Exception as error:  # so it does when that was no accident
            log.exception("tick_failed", loop=name, error=one_line(error), pause=backoff.grow())
        else:
            backoff.reset()
