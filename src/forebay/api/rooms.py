"""The database as the API may use it: one room for each role, so that no route can see more than its caller."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db import sessions
from forebay.db.pool import close_pool, open_pool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.api.principal import Principal
    from forebay.db.pool import Connection, Pool
    from forebay.settings import Settings


@dataclass(frozen=True, slots=True)
class Rooms:
    """Pools whose connections have one role each."""

    identity: Pool
    owners: Pool
    admins: Pool

    @asynccontextmanager
    async def of(self, who: Principal) -> AsyncGenerator[Connection]:
        """A connection in a transaction, that sees what this caller may see, and knows where the call came from."""
        pool = self.admins if who.is_admin else self.owners
        async with pool.acquire() as conn, conn.transaction():
            await sessions.act_for(conn, who.owner_id, who.ip)
            yield conn


@asynccontextmanager
async def open_rooms(dsn: str, settings: Settings) -> AsyncGenerator[Rooms]:
    pools: list[Pool] = []
    try:
        for role, size in (
            ("identity", 4),
            ("api", settings.api_pool_size),
            ("admin", 4),
        ):
            pools.append(
                await open_pool(
                    dsn,
                    size=size,
                    name=f"forebay {role}",
                    role=f"forebay_{role}",
                    prepared=settings.prepared_statements,
                    timeout=settings.api_timeout_s,
                )
            )
        yield Rooms(*pools)
    finally:
        for pool in pools:
            await close_pool(pool)
