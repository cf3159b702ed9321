"""The broker port over NATS JetStream, for runners."""

# The types of the client are incomplete.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from forebay.fleet import wire
from forebay.fleet.broker_clock import BrokerClock
from forebay.fleet.jetstream.connection import TIMEOUT_S, Address, connect, encoded, translating_errors
from forebay.fleet.jetstream.parts import Parts
from forebay.fleet.jetstream.pulls import Pull
from forebay.fleet.port import OFFER_SECONDS, BrokerUnavailable, Drop, InputGone, Offer, TaskInput
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from nats.aio.client import Client
    from nats.aio.msg import Msg

    from forebay.fleet.port import Beat, InputRequest, Report

log = get_logger("broker")

_INPUT_S = 30.0  # for all parts of an input


class JetStreamRunner:
    """Pulls the offers of each step, as many as it has slots for."""

    def __init__(self, url: str) -> None:
        self._address = Address.parse(url)
        self._client: Client | None = None
        self._pulls: dict[str, Pull] = {}
        self._tells: asyncio.Queue[Drop] = asyncio.Queue()

    async def open(self, runner: str, steps: Sequence[str], *, fresh_s: float = OFFER_SECONDS) -> None:
        self._fresh_s = fresh_s
        self._client = await connect(self._address, f"forebay runner {runner}")
        try:
            await self._begin(runner, steps)
        except BaseException:
            await self._client.close()
            raise

    @property
    def _nc(self) -> Client:
        assert self._client is not None, "open comes first"  # noqa: S101
        return self._client

    async def _begin(self, runner: str, steps: Sequence[str]) -> None:
        self._js = self._nc.jetstream(timeout=TIMEOUT_S)
        self._parts = Parts(self._nc.max_payload // 2)
        for step in steps:
            self._pulls[step] = pull = Pull(self._nc, self._address.stream("offer"), encoded(step))
            await pull.start()
            self._clock = BrokerClock(pull.server_time)
        async with translating_errors():
            await self._nc.subscribe(self._address.subject("tell", runner), cb=self._on_tell)

    async def take(self, step: str, most: int) -> Sequence[Offer]:
        offers: list[Offer] = []
        for message in await self._pulls[step].take(most):
            if await self._clock.age(message.metadata.timestamp.timestamp()) > self._fresh_s:
                log.info("bundle_skipped", step=step)
                continue
            try:
                offers += wire.decode(Offer, message.data)
            except wire.WireError as error:
                log.warning("message_dropped", kind="Offer", reason=str(error))
        return offers

    async def report(self, reports: Sequence[Report]) -> None:
        messages: dict[str, list[Report]] = {}
        for report in reports:
            messages.setdefault(report.dispatcher, []).append(report)
        for dispatcher, some in messages.items():
            subject = self._address.subject("report", dispatcher)
            async with translating_errors():
                for part, headers in self._parts.divide(wire.encode(*some)):
                    await self._js.publish(subject, part, timeout=TIMEOUT_S, headers=headers)

    async def beat(self, beat: Beat) -> None:
        async with translating_errors():
            await self._nc.publish(self._address.subject("beat"), wire.encode(beat))
            await self._nc.flush(2)

    async def _on_tell(self, msg: Msg) -> None:
        try:
            for drop in wire.decode(Drop, msg.data):
                self._tells.put_nowait(drop)
        except wire.WireError as error:
            log.warning("message_dropped", kind="Drop", reason=str(error))

    async def tells(self) -> AsyncIterator[Drop]:
        while True:
            yield await self._tells.get()

    async def input(self, dispatcher: str, request: InputRequest) -> TaskInput:
        inbox = self._nc.new_inbox()
        async with translating_errors(), asyncio.timeout(_INPUT_S):
            answers = await self._nc.subscribe(inbox)
            try:
                subject = self._address.subject("input", dispatcher)
                await self._nc.publish(subject, wire.encode(request), reply=inbox)
                data = None
                while data is None:
                    message = await answers.next_msg(timeout=_INPUT_S)
                    if (message.headers or {}).get("Status") == "503":
                        raise BrokerUnavailable("the dispatcher of the offer does not answer")
                    data = self._parts.join(message.data, message.headers)
            finally:
                await answers.unsubscribe()
        if not data:
            raise InputGone
        return wire.decode(TaskInput, data)[0]

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
