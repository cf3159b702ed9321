"""What the steps of one worker share: connections, a browser, a model. Opened for the first that asks."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from forebay.db.pool import Pool
    from forebay.engine.limits.client import LimitClient
    from forebay.settings import Settings

T = TypeVar("T")

log = get_logger("worker")

_CLOSING = 15.0  # seconds that one may take to close


class Resource(Generic[T]):
    """Something that steps share; `@resource` makes one of an async generator that yields it."""

    def __init__(self, name: str, opened: Callable[[Resources], AbstractAsyncContextManager[T]]) -> None:
        self.name = name
        self.opened = opened

    def __repr__(self) -> str:
        return f"<resource {self.name}>"


def resource(fn: Callable[[Resources], AsyncGenerator[T]]) -> Resource[T]:
    """Declare a resource: `fn` opens it, yields it once, and closes it. Steps get it by `await ctx.get(...)`."""
    return Resource(fn.__name__, asynccontextmanager(fn))


class Resources:
    """The resources of one worker, and what they are opened with."""

    def __init__(
        self,
        settings: Settings,
        pool: Pool,
        limits: LimitClient,
        replaced: Mapping[Resource[Any], Resource[Any]] | None = None,
    ) -> None:
        """`replaced`: others to open in their place; for tests."""
        self.settings = settings
        self.pool = pool
        self.limits = limits
        self._replaced = replaced or {}
        self._told: dict[str, Callable[[], Mapping[str, Any]]] = {}
        self._open: dict[Resource[Any], Any] = {}
        self._opening: dict[Resource[Any], asyncio.Lock] = {}
        self._closing = AsyncExitStack()

    async def get(self, resource: Resource[T]) -> T:
        """The resource, opened if it is not yet; what keeps it from opening is raised, and tried again next time."""
        if resource not in self._open:
            async with self._opening.setdefault(resource, asyncio.Lock()):
                if resource not in self._open:
                    self._open[resource] = await self._opened(self._replaced.get(resource, resource))
        value: T = self._open[resource]
        return value

    async def _opened(self, resource: Resource[T]) -> T:
        value = await self._closing.enter_async_context(_closed_within(resource, self))
        log.debug("resource_opened", resource=resource.name)
        return value

    def tells(self, name: str, describe: Callable[[], Mapping[str, Any]]) -> None:
        """What a resource tells about itself, as often as the worker does: nothing that only some may know."""
        self._told[name] = describe

    def describe(self) -> dict[str, Any]:
        """What they tell, by name."""
        return {name: describe() for name, describe in self._told.items()}

    async def close(self) -> None:
        """Close what is open, the last one first: it may use those before it."""
        self._open.clear()
        await self._closing.aclose()


@asynccontextmanager
async def _closed_within(resource: Resource[T], resources: Resources) -> AsyncGenerator[T]:
    """One that fails or hangs in closing must not keep the others from it, nor the worker from ending."""
    manager = resource.opened(resources)
    value = await manager.__aenter__()
    yield value
    try:
        async with asyncio.timeout(_CLOSING):
            await manager.__aexit__(None, None, None)
    except Exception as error:
        log.warning("resource_not_closed", resource=resource.name, error=one_line(error))
