"""Blocked threads do not keep other steps from running."""

from __future__ import annotations

import asyncio
import threading

import pytest

from forebay.engine.work.threads import Threads


async def test_stuck_threads_are_replaced() -> None:
    threads, go = Threads(4), threading.Event()
    try:
        for stuck in range(1, 11):  # more than there are threads
            begun = threading.Event()
            running = asyncio.create_task(threads.run(lambda begun=begun: (begun.set(), go.wait(60))))
            await asyncio.to_thread(begun.wait, 60)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert threads.stuck == stuck
            assert await threads.run(lambda: "others run") == "others run"
    finally:
        go.set()
        threads.close()


async def test_what_has_not_begun_is_simply_dropped() -> None:
    threads, go, ran = Threads(1), threading.Event(), threading.Event()
    first = asyncio.create_task(threads.run(go.wait, 60))
    second = asyncio.create_task(threads.run(ran.set))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go.set()
    assert await first is True
    assert threads.stuck == 0
    assert not ran.is_set()
    threads.close()
