"""BullMQ as dispatchers see it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from forebay.errors import one_line
from forebay.fleet import wire
from forebay.fleet.bullmq.connection import reaching
from forebay.fleet.bullmq.links import Link, read
from forebay.fleet.port import OFFER_SECONDS, Beat, BrokerUnavailable, InputRequest, InputUnavailable, Report
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from forebay.fleet.bullmq.channels import Subscription
    from forebay.fleet.bullmq.queues import SendingQueue
    from forebay.fleet.port import Drop, InputHandler, Offer

log = get_logger("bullmq")

_REPORTS_AT_ONCE = 100
_PAUSE_S = 0.5
_DROP_EVERY_S = 10.0
_REPLY_KEPT_S = 60


class BullMQDispatcher:
    """Offers tasks by queues of BullMQ, and reads the reports."""

    def __init__(self, url: str) -> None:
        """Raises: DefinitionError if the address is not one of Redis."""
        self._link = Link(url)
        self._offers: dict[str, SendingQueue] = {}
        self._reports: asyncio.Queue[Sequence[Report]] = asyncio.Queue(_REPORTS_AT_ONCE)
        self._readers: dict[str, asyncio.Event] = {}  # by dispatcher; set when its reports are not read any more
        self._beats: Subscription | None = None

    async def open(self, dispatcher: str, steps: Sequence[str], inputs: InputHandler) -> None:
        await self._link.open()
        self._offers = {step: self._link.sending("offers", step) for step in steps}
        self._beats = await self._link.subscribe("beats")
        requests = await self._link.subscribe("inputs", dispatcher)
        self._link.start(partial(self._answer, requests, inputs))
        self._link.start(self._drop_old_offers)
        await self.adopt(dispatcher)

    async def offer(self, step: str, bundle: Sequence[Offer]) -> None:
        await self._offers[step].send("offers", wire.encode_object(*bundle))

    async def reports(self) -> AsyncIterator[Sequence[Report]]:
        while True:
            yield await self._reports.get()

    async def beats(self) -> AsyncIterator[Beat]:
        assert self._beats is not None, "open comes first"  # noqa: S101
        while True:
            for beat in read(Beat, await self._beats.next()):
                yield beat

    async def beat(self, beat: Beat) -> None:
        await self._link.publish(wire.encode(beat), "beats")

    async def tell(self, runner: str, drop: Drop) -> None:
        await self._link.publish(wire.encode(drop), "tells", runner)

    async def adopt(self, dispatcher: str) -> None:
        if dispatcher not in self._readers:
            self._readers[dispatcher] = released = asyncio.Event()
            self._link.start(partial(self._read_reports, dispatcher, released))

    async def release(self, dispatcher: str) -> None:
        if (released := self._readers.pop(dispatcher, None)) is not None:
            released.set()

    async def close(self) -> None:
        await self._link.close()

    async def _read_reports(self, dispatcher: str, released: asyncio.Event) -> None:
        queue = self._link.taking("reports", dispatcher)
        while not released.is_set():
            try:
                taken = await queue.take(_REPORTS_AT_ONCE)
            except BrokerUnavailable as error:
                log.warning("reports_not_read", error=one_line(error))
                await asyncio.sleep(_PAUSE_S)
                continue
            reports = [report for message in taken for report in read(Report, message)]
            if reports:
                await self._reports.put(reports)

    async def _drop_old_offers(self) -> None:
        """BullMQ keeps what nobody takes: a runner would begin it long after its lease has ended."""
        while True:
            try:
                for queue in self._offers.values():
                    await queue.drop_old(OFFER_SECONDS)
            except BrokerUnavailable as error:
                log.debug("offers_not_dropped", error=one_line(error))
            await asyncio.sleep(_DROP_EVERY_S)

    async def _answer(self, requests: Subscription, inputs: InputHandler) -> None:
        while True:
            message = await requests.next()
            reply, _, request = message.partition(b" ")
            for each in read(InputRequest, request):
                try:
                    found = await inputs(each)
                    await self._reply(reply.decode(), wire.encode(found) if found else b"")
                except (BrokerUnavailable, InputUnavailable) as error:  # the runner hands the task back
                    log.warning("input_not_sent", error=one_line(error))

    async def _reply(self, key: str, content: bytes) -> None:
        with reaching():
            async with self._link.redis.pipeline() as commands:
                commands.rpush(key, content)
                commands.expire(key, _REPLY_KEPT_S)
                await commands.execute()
