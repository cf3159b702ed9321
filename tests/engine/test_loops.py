"""Periodic loops go on after errors, and say which of them are expected."""

from __future__ import annotations

import asyncio

from structlog.testing import capture_logs

from forebay.engine.loops import every
from forebay.errors import DatabaseUnavailable


async def test_a_loop_goes_on_after_errors() -> None:
    errors: list[Exception] = [DatabaseUnavailable("away"), ConnectionError("reset"), ValueError("a bug")]
    ended = asyncio.Event()

    async def tick() -> None:
        if errors:
            raise errors.pop(0)
        ended.set()

    with capture_logs() as logs:
        loop = asyncio.create_task(every(0.001, "test", tick, longest=0.001, jitter=0))
        async with asyncio.timeout(30):
            await ended.wait()
        loop.cancel()
    told = [(entry["log_level"], entry["error"]) for entry in logs if entry["event"] == "tick_failed"]
    assert told == [("warning", "away"), ("warning", "reset"), ("error", "a bug")]
