"""Loops that repeat, written once: tick, jitter, survive a lost database, stop when told."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from forebay.db.pool import COLLIDED, LOST
from forebay.engine.controllers import Backoff
from forebay.errors import brief
from forebay.log import get_logger

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
        except LOST + COLLIDED as error:  # a repair that fails now is tried again; the work goes on meanwhile
            log.warning("tick_failed", loop=name, error=brief(error), pause=backoff.grow())
        except Exception as error:  # so it does when that was no accident
            log.exception("tick_failed", loop=name, error=brief(error), pause=backoff.grow())
        else:
            backoff.reset()


async def either(first: asyncio.Event, timeout: float) -> bool:
    """Waits for an event, at most `timeout` seconds; says whether it came."""
    try:
        async with asyncio.timeout(timeout):
            await first.wait()
    except TimeoutError:
        return False
    return True
