"""The ways in which the tests of conformance run steps: in a worker, and in a fleet over each broker."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from forebay import Worker
from forebay.fleet.dispatcher import Dispatcher
from forebay.fleet.step_runner import StepRunner
from forebay.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from forebay import Pipeline
    from forebay.fleet.port import DispatcherPort, RunnerPort


class Setup(Protocol):
    """Runs the steps of pipelines while the block runs; the worker is the part that has the database."""

    is_fleet: bool

    def working(self, dsn: str, *pipelines: Pipeline[Any], **settings: Any) -> AbstractAsyncContextManager[Worker]: ...


@asynccontextmanager
async def running(part: Worker | StepRunner) -> AsyncIterator[None]:
    task = asyncio.create_task(part.run())
    await part.ready_or_failed(task)
    try:
        yield
    finally:
        part.stop()
        await task


class Direct:
    """A worker, without a broker."""

    is_fleet = False

    @asynccontextmanager
    async def working(
        self, dsn: str, *pipelines: Pipeline[Any], runners: int = 1, apart: Sequence[str] = (), **settings: Any
    ) -> AsyncIterator[Worker]:
        worker = Worker(dsn, pipelines, settings=Settings(**settings))
        async with running(worker):
            yield worker


class Fleet:
    """A dispatcher and a runner."""

    is_fleet = True

    def __init__(self, dispatcher_port: Callable[[], DispatcherPort], runner_port: Callable[[], RunnerPort]) -> None:
        self.dispatcher_port, self.runner_port = dispatcher_port, runner_port

    @asynccontextmanager
    async def working(
        self, dsn: str, *pipelines: Pipeline[Any], runners: int = 1, apart: Sequence[str] = (), **settings: Any
    ) -> AsyncIterator[Worker]:
        async with AsyncExitStack() as stack:
            if apart:
                worker = Worker(dsn, pipelines, settings=Settings(**settings, queues=",".join(apart)))
                await stack.enter_async_context(running(worker))
            dispatcher = self.dispatcher(dsn, *pipelines, **settings)
            await stack.enter_async_context(running(dispatcher))
            for _ in range(runners):
                await stack.enter_async_context(running(self.runner(*pipelines, **settings)))
            yield dispatcher

    def dispatcher(self, dsn: str, *pipelines: Pipeline[Any], **settings: Any) -> Dispatcher:
        return Dispatcher(dsn, pipelines, self.dispatcher_port(), settings=Settings(**settings))

    def runner(self, *pipelines: Pipeline[Any], **settings: Any) -> StepRunner:
        return StepRunner(self.runner_port(), pipelines, settings=Settings(**settings))
