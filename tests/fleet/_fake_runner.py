"""A runner that is the test: it says how many slots it has, what it takes, and how long that took."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from forebay.fleet.port import Beat, HeldOffer, Offer, Report, TaskEnd

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from forebay.fleet.port import RunnerPort
    from tests.fleet._setups import Fleet


class FakeRunner:
    """A runner with some slots that says how long its tasks took."""

    def __init__(self, port: RunnerPort, name: str, step: str) -> None:
        self._port, self._name, self._step = port, name, step
        self.held: list[Offer] = []

    async def beat(self, slots: int) -> None:
        held = [HeldOffer(each.id, each.dispatcher, tuple(task.token for task in each.tasks)) for each in self.held]
        await self._port.beat(Beat(self._name, slots={self._step: slots}, held=tuple(held)))

    async def take(self, most: int) -> None:
        self.held += await self._port.take(self._step, most)

    async def report(self, seconds: float) -> int:
        """Report that each task that it has took so long; returns how many."""
        ended = sum(len(each.tasks) for each in self.held)
        await self._port.report([self._report(each, seconds * len(each.tasks)) for each in self.held])
        self.held.clear()
        return ended

    def _report(self, offer: Offer, seconds: float) -> Report:
        outcome = {"kind": "done", "result": "1", "writes": []}
        ends = tuple(TaskEnd(task.token, task.n, seconds, outcome) for task in offer.tasks)
        return Report(offer.id, offer.dispatcher, self._name, ends)


@asynccontextmanager
async def fake_runner(fleet: Fleet, name: str, step: str) -> AsyncIterator[FakeRunner]:
    port = fleet.runner_port()
    await port.open(name, [step])
    try:
        yield FakeRunner(port, name, step)
    finally:
        await port.close()
