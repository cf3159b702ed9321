"""The broker port over NATS JetStream, for dispatchers."""

# The types of the client are incomplete.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from nats.errors import NoRespondersError
from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NoStreamResponseError, NotFoundError

from forebay.errors import one_line
from forebay.fleet import wire
from forebay.fleet.jetstream.connection import TIMEOUT_S, Address, connect, encoded, translating_errors
from forebay.fleet.jetstream.parts import Parts
from forebay.fleet.jetstream.pulls import Pull
from forebay.fleet.port import (
    OFFER_SECONDS,
    REPORT_SECONDS,
    Beat,
    BrokerUnavailable,
    InputRequest,
    InputUnavailable,
    Report,
)
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from nats.aio.client import Client
    from nats.aio.msg import Msg

    from forebay.fleet.port import Drop, InputHandler, Offer

log = get_logger("broker")

_REPORTS = 256  # messages with reports that are asked for at once
_UNLIMITED = 1_000_000
_EXISTS = 10058  # errors of JetStream
_NO_PEERS = 10005


class JetStreamDispatcher:
    """Offers are in a stream in memory, reports in a stream on disk, each with the replicas that the address says."""

    def __init__(self, url: str) -> None:
        self._address = Address.parse(url)
        self._client: Client | None = None
        self._steps: Sequence[str] = ()
        self._reports: asyncio.Queue[Sequence[Report]] = asyncio.Queue(1000)
        self._beats: asyncio.Queue[Beat] = asyncio.Queue(10_000)
        self._readers: dict[str, tuple[Pull, asyncio.Task[None]]] = {}  # by dispatcher

    async def open(self, dispatcher: str, steps: Sequence[str], inputs: InputHandler) -> None:
        self._dispatcher, self._steps, self._inputs = dispatcher, steps, inputs
        self._client = await connect(self._address, f"forebay dispatcher {dispatcher}")
        try:
            await self._begin()
        except BaseException:
            await self._client.close()
            raise

    @property
    def _nc(self) -> Client:
        assert self._client is not None, "open comes first"  # noqa: S101
        return self._client

    async def _begin(self) -> None:
        self._js = self._nc.jetstream(timeout=TIMEOUT_S)
        self._parts = Parts(self._nc.max_payload // 2)
        await self._create()
        subject = self._address.subject
        async with translating_errors():
            await self._nc.subscribe(subject("beat"), cb=self._on_beat)
            await self._nc.subscribe(subject("input", self._dispatcher), cb=self._on_input)
        await self.adopt(self._dispatcher)

    async def _create(self) -> None:
        """Create the streams and consumers that are missing."""
        a = self._address
        info: dict[str, Any] = self._nc._server_info  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        replicas = a.replicas or (3 if info.get("cluster") else 1)
        async with translating_errors():
            for kind, storage, age in (
                ("offer", StorageType.MEMORY, OFFER_SECONDS),
                ("report", StorageType.FILE, REPORT_SECONDS),
            ):
                await self._add_stream(
                    StreamConfig(
                        name=a.stream(kind),
                        subjects=[a.subject(kind) + ".>"],
                        retention=RetentionPolicy.WORK_QUEUE,
                        storage=storage,
                        max_age=age,
                        num_replicas=replicas,
                        duplicate_window=1,
                    )
                )
            for step in self._steps:
                await self._add_consumer("offer", step)

    async def _add_stream(self, config: StreamConfig) -> None:
        try:
            await self._js.add_stream(config)
        except BadRequestError as error:
            if error.err_code == _EXISTS:  # with other properties, such as of an administrator
                log.info("stream_kept", stream=config.name, reason=one_line(error))
                return
            fix = ""
            if error.err_code == _NO_PEERS:
                fix = f": {config.num_replicas} replicas need as many servers with free storage; ?replicas=1 in "
                fix += "FOREBAY_BROKER_URL sets another number"
            raise BrokerUnavailable(f"the stream {config.name} cannot be made: {error.description}{fix}") from error

    async def _add_consumer(self, kind: str, name: str) -> None:
        await self._js.add_consumer(
            self._address.stream(kind),
            ConsumerConfig(
                durable_name=encoded(name),
                filter_subject=self._address.subject(kind, name),
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=30,
                max_deliver=1,  # PostgreSQL redelivers, not the broker
                max_ack_pending=_UNLIMITED,
                max_waiting=_UNLIMITED,
                inactive_threshold=REPORT_SECONDS,
            ),
        )

    async def offer(self, step: str, bundle: Sequence[Offer]) -> None:
        subject, data = self._address.subject("offer", step), wire.encode(*bundle)
        async with translating_errors():
            try:
                await self._js.publish(subject, data, timeout=TIMEOUT_S)
            except (NoStreamResponseError, NotFoundError, NoRespondersError):
                await self._create()  # the broker has lost it
                await self._js.publish(subject, data, timeout=TIMEOUT_S)

    async def adopt(self, dispatcher: str) -> None:
        if dispatcher in self._readers:
            return
        async with translating_errors():
            await self._add_consumer("report", dispatcher)
        pull = Pull(self._nc, self._address.stream("report"), encoded(dispatcher))
        await pull.start()
        reader = asyncio.create_task(self._read(dispatcher, pull), name=f"reports {dispatcher}")
        self._readers[dispatcher] = pull, reader

    async def release(self, dispatcher: str) -> None:
        if (reader := self._readers.pop(dispatcher, None)) is not None:
            pull, _ = reader
            await pull.stop()

    async def _read(self, dispatcher: str, pull: Pull) -> None:
        while not pull.has_ended:
            try:
                messages = await pull.take(_REPORTS)
                if not messages and pull.is_missing:
                    await self._create()
                    await self._add_consumer("report", dispatcher)
                for message in messages:
                    await self._pass_on(message)
            except BrokerUnavailable as error:
                log.debug("reports_not_read", error=one_line(error))
                await asyncio.sleep(0.5)
            except Exception as error:
                log.warning("reports_not_read", error=one_line(error))
                await asyncio.sleep(0.5)

    async def _pass_on(self, message: Msg) -> None:
        data = self._parts.join(message.data, message.headers)
        if data is not None and (reports := _decoded(Report, data)):
            await self._reports.put(reports)

    async def reports(self) -> AsyncIterator[Sequence[Report]]:
        while True:
            yield await self._reports.get()

    async def _on_beat(self, msg: Msg) -> None:
        for beat in _decoded(Beat, msg.data):
            if not self._beats.full():
                self._beats.put_nowait(beat)

    async def beats(self) -> AsyncIterator[Beat]:
        while True:
            yield await self._beats.get()

    async def beat(self, beat: Beat) -> None:
        async with translating_errors():
            await self._nc.publish(self._address.subject("beat"), wire.encode(beat))

    async def tell(self, runner: str, drop: Drop) -> None:
        async with translating_errors():
            await self._nc.publish(self._address.subject("tell", runner), wire.encode(drop))

    async def _on_input(self, msg: Msg) -> None:
        """Answer with all parts of an input; with nothing if it is not offered."""
        for request in _decoded(InputRequest, msg.data):
            try:
                found = await self._inputs(request)
                data = b"" if found is None else wire.encode(found)
                async with translating_errors():
                    for part, headers in self._parts.divide(data):
                        await self._nc.publish(msg.reply, part, headers=headers)
            except (BrokerUnavailable, InputUnavailable) as error:  # the runner hands the task back
                log.warning("input_not_sent", error=one_line(error))

    async def close(self) -> None:
        for _, reader in self._readers.values():
            reader.cancel()
        await asyncio.gather(*[reader for _, reader in self._readers.values()], return_exceptions=True)
        if self._client is not None:
            await self._client.close()


def _decoded(kind: type[Any], data: bytes) -> list[Any]:
    try:
        return wire.decode(kind, data)
    except wire.WireError as error:
        log.warning("message_dropped", kind=kind.__name__, reason=str(error))
        return []
