"""Resources that the steps of a worker share: connections, a browser, a model. Each is opened on first use."""

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

_CLOSING = 15.0  # maximum seconds to close one resource


class Resource(Generic[T]):
    """A shared resource; `@resource` creates it from an async generator that yields it."""

    def __init__(self, name: str, opened: Callable[[Resources], AbstractAsyncContextManager[T]]) -> None:
        self.name = name
        self.opened = opened

    def __repr__(self) -> str:
        return f"<resource {self.name}>"


def resource(fn: Callable[[Resources], AsyncGenerator[T]]) -> Resource[T]:
    """Declare a resource: `fn` opens it, yields it once, and closes it. Steps get it with `await ctx.get(...)`."""
    return Resource(fn.__name__, asynccontextmanager(fn))


class Resources:
    """The resources of one worker, and what they need to open."""

    def __init__(
        self,
        settings: Settings,
        pool: Pool,
        limits: LimitClient,
        replaced: Mapping[Resource[Any], Resource[Any]] | None = None,
    ) -> None:
        """`replaced`: substitutes that are opened instead, for tests."""
        self.settings = settings
        self.pool = pool
        self.limits = limits
        self._replaced = replaced or {}
        self._descriptions: dict[str, Callable[[], Mapping[str, Any]]] = {}
        self._open: dict[Resource[Any], Any] = {}
        self._opening: dict[Resource[Any], asyncio.Lock] = {}
        self._closing = AsyncExitStack()

    async def get(self, resource: Resource[T]) -> T:
        """Return the resource; open it on first use. An error while opening is raised, and the next call tries
        again."""
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

    def add_description(self, name: str, describe: Callable[[], Mapping[str, Any]]) -> None:
        """Register a function that describes a resource in the worker's status. It must not return confidential
        data."""
        self._descriptions[name] = describe

    def describe(self) -> dict[str, Any]:
        """The registered descriptions, by name."""
        return {name: describe() for name, describe in self._descriptions.items()}

    async def close(self) -> None:
        """Close the open resources, the last opened first, because it may use earlier ones."""
        self._open.clear()
        await self._closing.aclose()


@asynccontextmanager
async def _closed_within(resource: Resource[T], resources: Resources) -> AsyncGenerator[T]:
    """Log an error or a timeout while closing, so that the other resources and the worker can still close."""
    manager = resource.opened(resources)
    value = await manager.__aenter__()
    yield value
    try:
        async with asyncio.timeout(_CLOSING):
            await manager.__aexit__(None, None, None)
    except Exception as error:
        log.warning("resource_not_closed", resource=resource.name, error=one_line(error))
