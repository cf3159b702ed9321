"""BullMQ as runners see it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from forebay.fleet import wire
from forebay.fleet.bullmq.connection import reaching
from forebay.fleet.bullmq.links import Link, read
from forebay.fleet.port import OFFER_SECONDS, REPORT_SECONDS, BrokerUnavailable, Drop, InputGone, Offer, TaskInput

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from forebay.fleet.bullmq.channels import Subscription
    from forebay.fleet.bullmq.queues import SendingQueue, TakenQueue
    from forebay.fleet.port import Beat, InputRequest, Report

_INPUT_S = 5
_MOST_DISPATCHERS = 100  # of which the queues are remembered


class BullMQRunner:
    """Takes offers from queues of BullMQ, and sends reports."""

    def __init__(self, url: str) -> None:
        """Raises: DefinitionError if the address is not one of Redis."""
        self._link = Link(url)
        self._offers: dict[str, TakenQueue] = {}
        self._reports: dict[str, SendingQueue] = {}
        self._tells: Subscription | None = None

    async def open(self, runner: str, steps: Sequence[str], *, fresh_s: float = OFFER_SECONDS) -> None:
        await self._link.open()
        self._offers = {step: self._link.taking("offers", step, fresh_s=fresh_s) for step in steps}
        self._tells = await self._link.subscribe("tells", runner)

    async def take(self, step: str, most: int) -> Sequence[Offer]:
        taken = await self._offers[step].take(most)
        return [offer for message in taken for offer in read(Offer, message)]

    async def report(self, reports: Sequence[Report]) -> None:
        for dispatcher in {report.dispatcher for report in reports}:
            mine = [report for report in reports if report.dispatcher == dispatcher]
            await self._reports_for(dispatcher).send("reports", wire.encode_object(*mine))

    async def beat(self, beat: Beat) -> None:
        await self._link.publish(wire.encode(beat), "beats")

    async def tells(self) -> AsyncIterator[Drop]:
        assert self._tells is not None, "open comes first"  # noqa: S101
        while True:
            for drop in read(Drop, await self._tells.next()):
                yield drop

    async def input(self, dispatcher: str, request: InputRequest) -> TaskInput:
        reply = self._link.address.channel("reply", uuid4().hex)
        asked = reply.encode() + b" " + wire.encode(request)
        if not await self._link.publish(asked, "inputs", dispatcher):
            raise InputGone(f"the dispatcher {dispatcher} is not connected")
        with reaching():
            answer = await self._link.redis.blpop([reply], timeout=_INPUT_S)
        if answer is None:
            raise BrokerUnavailable(f"the dispatcher {dispatcher} has not sent an input for {_INPUT_S} s")
        found = read(TaskInput, str(answer[1]).encode()) if answer[1] else ()
        if not found:
            raise InputGone("the dispatcher does not offer this task any more")
        return found[0]

    async def close(self) -> None:
        await self._link.close()

    def _reports_for(self, dispatcher: str) -> SendingQueue:
        if dispatcher not in self._reports:
            if len(self._reports) >= _MOST_DISPATCHERS:
                del self._reports[next(iter(self._reports))]
            queue = self._link.sending("reports", dispatcher, kept_s=REPORT_SECONDS)
            self._reports[dispatcher] = queue
        return self._reports[dispatcher]
