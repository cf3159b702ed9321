"""What the tests of storage share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, cast

from forebay.db.pool import Pool
from forebay.engine.db.writes import Writer
from forebay.storage import Store, Stored

ANN, BOB = 1, 2
BIG = b"0123456789abcdef" * (5 << 16)  # 5 MiB: in a file on its way, and in S3 still one part


async def pieces(data: bytes, size: int = 100_000) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def settle(pool: Pool, *stored: Stored) -> None:
    """As the settling of a step does."""
    async with pool.acquire() as conn, conn.transaction():
        await Writer().apply(conn, [each.write() for each in stored])


async def content(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


async def keys(store: Store) -> list[str]:
    return [found.key async for page in store.objects() for found in page]


def spools(store: Store) -> list[str]:
    return [each.name for each in store.spool.iterdir()] if store.spool.exists() else []


class Held:
    """A store whose calls of one name stop, before or after they are done, until they are let go."""

    def __init__(self, store: Store, call: str, when: str = "before") -> None:
        self._store = store
        self._call = call
        self._when = when
        self.reached, self.go = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._store, name)
        return self._holding(inner) if name == self._call else inner

    def _holding(self, inner: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(*args: Any) -> Any:
            if self._when == "before":
                await self._hold()
            answer = await inner(*args)
            if self._when == "after":
                await self._hold()
            return answer

        return call

    async def _hold(self) -> None:
        self.reached.set()
        await self.go.wait()

    @property
    def as_store(self) -> Store:
        return cast("Store", self)
