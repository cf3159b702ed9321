"""Wrappers of a port that lose, double, delay and reorder what passes, by a seed."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.fleet.port import Beat, Drop, Offer, Report


class _Lossy:
    def __init__(self, port: Any, rng: random.Random, *, longest: float) -> None:
        self._port, self._rng, self._longest = port, rng, longest
        self._later: set[asyncio.Task[None]] = set()
        self.lost = self.doubled = self.delayed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)

    async def _pass_on(self, send: Any) -> None:
        match self._rng.choices(("pass", "lose", "double", "delay"), (60, 10, 15, 15))[0]:
            case "pass":
                await send()
            case "lose":
                self.lost += 1
            case "double":
                self.doubled += 1
                await send()
                await send()
            case _:
                self.delayed += 1
                task = asyncio.create_task(self._send_later(send))
                self._later.add(task)
                task.add_done_callback(self._later.discard)

    async def _send_later(self, send: Any) -> None:
        await asyncio.sleep(self._rng.uniform(0, self._longest))
        await send()

    async def close(self) -> None:
        for task in list(self._later):
            task.cancel()
        await asyncio.gather(*self._later, return_exceptions=True)
        await self._port.close()


class LossyDispatcherPort(_Lossy):
    """Its offers and tells are treated so."""

    async def offer(self, step: str, bundle: Sequence[Offer]) -> None:
        await self._pass_on(lambda: self._port.offer(step, bundle))

    async def tell(self, runner: str, drop: Drop) -> None:
        await self._pass_on(lambda: self._port.tell(runner, drop))


class LossyRunnerPort(_Lossy):
    """Its reports and beats are treated so."""

    async def report(self, reports: Sequence[Report]) -> None:
        for report in self._rng.sample(list(reports), len(reports)):
            await self._pass_on(lambda report=report: self._port.report([report]))

    async def beat(self, beat: Beat) -> None:
        await self._pass_on(lambda: self._port.beat(beat))
