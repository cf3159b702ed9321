"""What steps find at a runner: arguments from the offer, no limits (they were entered before), and no database."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic_core import from_json

from forebay.engine.limits.client import Permits
from forebay.engine.work.arguments import StepArguments
from forebay.engine.work.progress import ProgressBook
from forebay.errors import ConfigError
from forebay.fleet.port import BrokerUnavailable, InputGone, InputRequest
from forebay.types import Done, Signal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from forebay.db.pool import Connection
    from forebay.engine.declare.context import Context
    from forebay.engine.declare.limited import Limited
    from forebay.engine.declare.resources import Resource, Resources
    from forebay.engine.declare.step import Step
    from forebay.engine.processes.pool import ProcessPool
    from forebay.engine.work.attempt import Attempt
    from forebay.engine.work.step_calls import Call
    from forebay.fleet.port import Offer, OfferedTask, RunnerPort, TaskInput
    from forebay.types import ItemRecord, Mapped

T = TypeVar("T")


class NoDatabase:
    """Stands where workers have a connection pool."""

    def __getattr__(self, name: str) -> NoReturn:
        raise ConfigError(
            "the step uses the database, which runners of a fleet do not have: declare it with needs_database=True, "
            "so that workers run it"
        )


class NoLimits:
    """Stands where workers have limits. Dispatchers enter those of a step before they offer its tasks."""

    async def acquire(self, *_: Any, **__: Any) -> Permits:
        return Permits()

    def release(self, permits: Permits) -> None:
        pass

    def __getattr__(self, name: str) -> NoReturn:
        raise ConfigError(
            "the step uses limits by itself, which needs the database: declare it with needs_database=True"
        )


class OfferArguments(StepArguments):
    """The arguments of a step, from its offers; large ones are asked for."""

    def __init__(self, step: Step[Any, Any], port: RunnerPort, offers: Mapping[int, tuple[Offer, OfferedTask]]) -> None:
        super().__init__(step, NoDatabase())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        self._port, self._offers = port, offers

    async def read(self, attempt: Attempt) -> tuple[Any, ...]:
        found = await self._asked(attempt)
        return self._parsed(attempt.lease, found.input, found.results)

    async def _asked(self, attempt: Attempt) -> TaskInput:
        """What the dispatcher of the offer answers."""
        offer, task = self._offers[attempt.token]
        try:
            return await self._port.input(offer.dispatcher, InputRequest(offer.id, task.token, task.n))
        except InputGone:
            attempt.stop = "its offer was withdrawn"
            raise asyncio.CancelledError from None
        except BrokerUnavailable as error:  # no failure of the step: the task is handed back
            attempt.stop = f"the input could not be read from the dispatcher: {error}"
            raise asyncio.CancelledError from None

    async def read_wait(self, attempt: Attempt, now: datetime | None) -> None:
        signal = self._offers[attempt.token][1].signal
        if signal is None:
            return
        payload: str | None = signal["payload"]
        if payload is None:  # it is large
            payload = (await self._asked(attempt)).payload or "null"
        attempt.signal = Signal(signal["name"], signal["key"], from_json(payload), timed_out=signal["timed_out"])


class RunnerProgress(ProgressBook):
    """The progress of running steps, until the next beat."""

    def __init__(self, clock: Any) -> None:
        super().__init__(NoDatabase(), clock)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    def take(self) -> dict[int, dict[str, Any]]:
        """What is new, by token."""
        with self._lock:
            notes, self._notes = self._notes, {}
        return {ctx.token: noted for ctx, noted in notes.items()}


class RunnerServices:
    """The services of a runner for its steps."""

    def __init__(self, progress: RunnerProgress, resources: Resources, processes: ProcessPool) -> None:
        self.report_progress = progress.report_progress
        self._resources, self._processes = resources, processes
        self._none: Any = NoDatabase()

    async def get(self, resource: Resource[T]) -> T:
        return await self._resources.get(resource)

    async def call(self, ctx: Context, limited: Limited[..., Any], args: Any, kwargs: Any) -> Any:
        return await self._processes.run(limited, ctx, args, kwargs)

    def transaction(self, ctx: Context) -> AbstractAsyncContextManager[Connection]:
        found: AbstractAsyncContextManager[Connection] = self._none.transaction
        return found

    def children(self, ctx: Context, mapped: Mapped) -> AsyncIterator[ItemRecord]:
        found: AsyncIterator[ItemRecord] = self._none.children
        return found


def remembering(call: Call, step: Step[Any, Any], remember: Callable[[Attempt, object], None]) -> Call:
    """Wrap the call of a step: what it returns is remembered, and its jobs are submitted by the dispatcher."""

    def plain(attempt: Attempt, value: Any) -> Any:
        remember(attempt, value)
        return Done(value.result) if value.__class__ is Done else value

    async def call_one(attempt: Attempt, *args: Any) -> Any:
        return plain(attempt, await call(attempt, *args))

    async def call_batch(first: Attempt, *args: Any) -> Any:
        values = list(await call(first, *args))
        good = [attempt for attempt in first.batch if attempt.outcome is None]
        if len(values) != len(good):  # the executor reports this
            return values
        return [plain(attempt, value) for attempt, value in zip(good, values, strict=True)]

    return call_one if step.batch_size is None else call_batch
