"""The database as the API may use it: one room for each role, so that no route can see more than its caller."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.db import sessions
from forebay.db.pool import close_pool, open_pool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.api.metrics import Meter
    from forebay.api.principal import Principal
    from forebay.db.pool import Connection, Pool
    from forebay.settings import Settings


@dataclass(frozen=True, slots=True)
class Rooms:
    """Pools whose connections have one role each."""

    meter: Meter
    identity: Pool
    owners: Pool
    admins: Pool

    @asynccontextmanager
    async def of(self, who: Principal) -> AsyncGenerator[Connection]:
        """A connection in a transaction, that sees what this caller may see, and knows where the call came from."""
        room, pool = ("admins", self.admins) if who.is_admin else ("owners", self.owners)
        came = time.perf_counter()
        async with pool.acquire() as conn:
            self.meter.waited(room, time.perf_counter() - came)
            async with conn.transaction():
                asked = time.perf_counter()
                await sessions.act_for(conn, who.owner_id, who.ip)
                self.meter.round_trip(time.perf_counter() - asked)
                yield conn


@asynccontextmanager
async def open_rooms(dsn: str, settings: Settings, meter: Meter) -> AsyncGenerator[Rooms]:
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
        yield Rooms(meter, *pools)
    finally:
        for pool in pools:
            await close_pool(pool)
