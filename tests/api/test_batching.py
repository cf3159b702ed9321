"""Calls that share a statement: who is sent alone, who is sent together, and what becomes of failures."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from forebay.api.batching import Batcher


class Sender:
    """Notes what is sent, and answers a batch when the test says so."""

    def __init__(self) -> None:
        self.sent: list[list[int]] = []
        self.ends: list[asyncio.Future[None]] = []

    async def send(self, batch: list[int]) -> list[str]:
        self.sent.append(batch)
        self.ends.append(asyncio.get_running_loop().create_future())
        await self.ends[-1]
        return [f"answer to {one}" for one in batch]

    async def end(self, number: int, error: Exception | None = None) -> None:
        if error is None:
            self.ends[number].set_result(None)
        else:
            self.ends[number].set_exception(error)
        await settled()


async def settled() -> None:
    """All that can go on has done so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def called(batcher: Batcher[int, str], *calls: int) -> list[asyncio.Task[str]]:
    tasks = [asyncio.create_task(batcher.call(call)) for call in calls]
    await settled()
    return tasks


async def test_calls_that_come_while_others_are_on_their_way_are_sent_together() -> None:
    sender = Sender()
    batcher = Batcher(sender.send, at_once=2, most=3)
    tasks = await called(batcher, 1, 2, 3, 4, 5, 6)
    assert sender.sent == [[1], [2]]
    await sender.end(1)
    assert sender.sent == [[1], [2], [3, 4, 5]]
    tasks += await called(batcher, 7)
    assert len(sender.sent) == 3, "a call must not join a batch that was sent before it came"
    await sender.end(0)
    assert sender.sent[3:] == [[6, 7]]
    await sender.end(2)
    await sender.end(3)
    assert await asyncio.gather(*tasks) == [f"answer to {call}" for call in range(1, 8)]
    tasks = await called(batcher, 8, 9, 10)
    assert sender.sent[4:] == [[8], [9]]
    await sender.end(4)
    await sender.end(5)
    await sender.end(6)
    assert await tasks[2] == "answer to 10"


async def test_a_failure_is_that_of_its_batch() -> None:
    sender = Sender()
    batcher = Batcher(sender.send, at_once=1, most=2)
    tasks = await called(batcher, 1, 2, 3, 4)
    await sender.end(0, OSError("alone"))
    await sender.end(1, OSError("together"))
    await sender.end(2)
    outcomes: list[Any] = await asyncio.gather(*tasks, return_exceptions=True)
    assert list(map(str, outcomes)) == ["alone", "together", "together", "answer to 4"]


@pytest.mark.parametrize("place", [0, 1])
async def test_who_does_not_wait_any_more_holds_up_nobody(place: int) -> None:
    sender = Sender()
    batcher = Batcher(sender.send, at_once=1, most=2)
    tasks = await called(batcher, 1, 2, 3)
    tasks[place].cancel()
    await settled()
    if place == 0:  # the one on its way has gone
        assert sender.sent == [[1], [2, 3]]
    else:
        await sender.end(0)
        assert sender.sent == [[1], [3]]
    await sender.end(1)
    assert await tasks[2] == "answer to 3"
