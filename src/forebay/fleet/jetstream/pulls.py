"""Pulls messages of one consumer: the server sends as many as were asked for, when they come."""

# The types of the client are incomplete.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import itertools
import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forebay.fleet.jetstream.connection import translating_errors
from forebay.fleet.port import BrokerUnavailable

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

_EXPIRES_S = 5.0  # of a request; longer waits are several requests
_MISSING = ("404", "503")  # no messages, or no such stream or consumer
_INFO_S = 1.0
_PAUSE_S = 0.5  # before the next request to a consumer that does not exist


class Pull:
    """The requests to one consumer that are open, and the messages that have come and were not taken."""

    def __init__(self, nc: Client, stream: str, consumer: str) -> None:
        self._nc = nc
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._info = f"$JS.API.CONSUMER.INFO.{stream}.{consumer}"
        self._inbox = nc.new_inbox()
        self._numbers = itertools.count()
        self._open: dict[str, tuple[int, float]] = {}  # messages that a request still expects, and until when
        self._came: list[Msg] = []
        self._news = asyncio.Event()
        self._not_before = 0.0
        self.is_missing = False  # the stream or the consumer, at the last answer
        self._is_stopped = False

    async def start(self) -> None:
        async with translating_errors():
            self._subscription = await self._nc.subscribe(f"{self._inbox}.*", cb=self._on_message)

    async def stop(self) -> None:
        """Ask for nothing more; what has come can still be taken."""
        self._is_stopped = True
        async with translating_errors():
            await self._subscription.drain()  # type: ignore[no-untyped-call]
        self._news.set()

    @property
    def has_ended(self) -> bool:
        return self._is_stopped and not self._came

    async def server_time(self) -> float:
        """The time of the server, in epoch seconds.

        Raises: BrokerUnavailable.
        """
        async with translating_errors():
            answer = await self._nc.request(self._info, timeout=_INFO_S)
        said: str = json.loads(answer.data).get("ts", "")
        seconds, _, fraction = said.removesuffix("Z").partition(".")
        try:
            return datetime.fromisoformat(seconds).replace(tzinfo=UTC).timestamp() + float(f"0.{fraction}")
        except ValueError:
            raise BrokerUnavailable(f"it does not tell its time: {answer.data[:200]!r}") from None

    async def _on_message(self, msg: Msg) -> None:
        status = (msg.headers or {}).get("Status")
        if status is not None:
            self.is_missing = status in _MISSING
            if self.is_missing:
                self._not_before = time.monotonic() + _PAUSE_S
            if status != "100":
                self._open.pop(msg.subject.rpartition(".")[2], None)
                self._news.set()
            return
        self._count()
        await self._nc.publish(msg.reply, b"+ACK")  # on receipt: PostgreSQL redelivers, not the broker
        self._came.append(msg)
        self._news.set()

    def _count(self) -> None:
        """A message has the subject of the stream, and does not say for which request it is: the server answers them in
        their order."""
        for number, (left, until) in self._open.items():
            if left > 1:
                self._open[number] = (left - 1, until)
            else:
                del self._open[number]
            return

    async def take(self, most: int) -> list[Msg]:
        """At most `most` messages; none after a few seconds.

        Raises: BrokerUnavailable.
        """
        await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
        if not self._came and not self._is_stopped:
            self._news.clear()
            await self._request(most)
            try:
                await asyncio.wait_for(self._news.wait(), _EXPIRES_S)
            except TimeoutError:
                return []
        taken, self._came = self._came[:most], self._came[most:]
        return taken

    async def _request(self, most: int) -> None:
        now = time.monotonic()
        self._open = {number: each for number, each in self._open.items() if each[1] > now}
        wanted = most - sum(left for left, _ in self._open.values())
        if wanted <= 0:
            return
        number = str(next(self._numbers))
        request = {"batch": wanted, "expires": int(_EXPIRES_S * 1e9)}
        # A request that the server has lost counts a little longer than the server would have kept it.
        self._open[number] = (wanted, now + _EXPIRES_S + 0.5)
        async with translating_errors():
            await self._nc.publish(self._subject, json.dumps(request).encode(), reply=f"{self._inbox}.{number}")
