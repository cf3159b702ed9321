"""One connection pool per database role, so that no route can see more than its caller may.

Each pool logs in with a separate account, which cannot switch to another role: injected SQL has only the rights of the
caller.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from forebay.api.write_slots import WriteSlots
from forebay.db.pool import close_pool
from forebay.db.role_pool import ADMIN, API, IDENTITY, open_role_pool, probe
from forebay.identity import session_context
from forebay.identity.logins import login_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.api.auth.authentication import Principal
    from forebay.api.metrics.process import Meter
    from forebay.db.pool import Connection
    from forebay.db.role_pool import RolePool
    from forebay.settings import Settings

_BRIEFLY = 2.0  # seconds that the service's queries wait for a connection


@dataclass(frozen=True, slots=True)
class RolePools:
    """The pools, one per role."""

    meter: Meter
    write_slots: WriteSlots
    identity: RolePool
    owners: RolePool
    admins: RolePool
    watch: RolePool  # for the service's queries, which neither delay requests nor wait for them

    @asynccontextmanager
    async def of(self, who: Principal) -> AsyncGenerator[Connection]:
        """A connection in a transaction that sees what this caller may see and records the caller's address."""
        async with self._inside(self.admins if who.is_admin else self.owners, who) as conn:
            yield conn

    @asynccontextmanager
    async def own(self, who: Principal) -> AsyncGenerator[Connection]:
        """The same, limited to the rows of the caller's owner, also for administrators."""
        async with self._inside(self.owners, who) as conn:
            yield conn

    @asynccontextmanager
    async def _inside(self, pool: RolePool, who: Principal) -> AsyncGenerator[Connection]:
        async with pool.without_role() as conn, conn.transaction():
            asked = time.perf_counter()
            await session_context.act_for(conn, pool.role, who.owner_id, who.ip)
            self.meter.round_trip(time.perf_counter() - asked)
            yield conn


@asynccontextmanager
async def open_role_pools(dsn: str, settings: Settings, meter: Meter) -> AsyncGenerator[RolePools]:
    """Raises: DatabaseUnavailable when a login has other rights than it should."""
    pools: list[RolePool] = []
    try:
        for name, role, size, max_wait in (
            ("identity", IDENTITY, 4, settings.api_pool_wait_s),
            ("owners", API, settings.api_pool_size, settings.api_pool_wait_s),
            ("admins", ADMIN, 4, settings.api_pool_wait_s),
            ("watch", ADMIN, 3, min(_BRIEFLY, settings.api_pool_wait_s)),
        ):
            pool = await open_role_pool(
                login_url(settings, role, dsn),
                role,
                size=size,
                max_wait=max_wait,
                timeout=settings.api_timeout_s,
                prepared=settings.prepared_statements,
                waited=partial(meter.waited, name),
            )
            pools.append(pool)
            await probe(pool)
        yield RolePools(meter, WriteSlots(settings.api_pool_size, settings.api_pool_wait_s), *pools)
    finally:
        for pool in pools:
            await close_pool(pool)
