"""A room: a pool whose connections have the rights of one role, in which nobody waits for ever.

A session that is ours gets its role when it begins. Behind a transaction-mode pooler (`prepared=False`) no session is:
there every transaction takes the role for itself, and nothing happens outside of one.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import asyncpg
from asyncpg.pool import PoolAcquireContext

from forebay.db.pool import UNAVAILABLE, connection_options, database_unavailable, pool_options, set_transaction_timeout
from forebay.db.statements import statements
from forebay.errors import DatabaseBusy, WrongRole, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import NoReturn, TypeAlias

    from asyncpg.pool import PoolConnectionProxy
    from asyncpg.transaction import Transaction

    from forebay.db.pool import Connection

    _Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    _Acquiring: TypeAlias = PoolAcquireContext[asyncpg.Record]
    _Lent: TypeAlias = PoolConnectionProxy[asyncpg.Record]
else:
    _Pool, _Acquiring = asyncpg.Pool, PoolAcquireContext

load = statements("forebay.db")

API, ADMIN, IDENTITY = "forebay_api", "forebay_admin", "forebay_identity"


class RolePool(_Pool):
    """The connections of one role."""

    def __init__(
        self,
        dsn: str,
        role: str,
        *,
        size: int,
        patience: float,
        timeout: float,
        prepared: bool,
        waited: Callable[[float], None],
    ) -> None:
        self.role = role
        self.patience = patience
        self.waited = waited
        self.keeps_role = prepared
        self._timeout = timeout
        begin = connection_options(role.replace("_", " "), timeout, prepared=prepared)
        if prepared:
            begin["server_settings"]["role"] = role
        super().__init__(
            dsn,
            max_queries=50_000,
            loop=None,
            connection_class=asyncpg.Connection,
            record_class=asyncpg.Record,
            init=self._begin,
            **pool_options(size, timeout),
            **begin,
        )

    def acquire(self, *, timeout: float | None = None) -> _Acquiring:
        """A connection that has the role.

        Raises: DatabaseBusy when there is none for too long.
        """
        return _Lending(self, timeout or self.patience, takes_role=not self.keeps_role)

    def without_role(self) -> _Acquiring:
        """The same for who says the role with the first statement: behind a pooler this one has it not yet."""
        return _Lending(self, self.patience, takes_role=False)

    async def _begin(self, conn: Connection) -> None:
        """Raises: WrongRole for a connection that must not be used."""
        if self.keeps_role:
            await set_transaction_timeout(conn, timeout=self._timeout)
            await self._check(conn)
        else:
            async with conn.transaction():
                await take_role(conn, self.role)
                await self._check(conn)

    async def _check(self, conn: Connection) -> None:
        row = await conn.fetchrow(load("check_role"), self.role)
        if row is None or not row["is_role"]:
            raise WrongRole(
                f"connections to the database come without the role {self.role}: something on the way drops it. "
                "Behind a transaction-mode pooler set FOREBAY_PREPARED_STATEMENTS=false"
            )
        if self.role == API and row["is_guarded"] is False:
            raise WrongRole(
                f"row-level security does not hold for {self.role}: it must neither be a superuser nor own the tables "
                "nor have BYPASSRLS. Mend that, and run `forebay migrate`"
            )


async def take_role(conn: Connection, role: str) -> None:
    """Until the transaction ends."""
    await conn.execute("select set_config('role', $1, true)", role)


class _Lending(_Acquiring):
    """A connection lent, its wait measured, and its role taken where sessions have none."""

    def __init__(self, pool: RolePool, timeout: float, *, takes_role: bool) -> None:
        super().__init__(pool, timeout)
        self._pool = pool
        self._takes_role = takes_role
        self._transaction: Transaction | None = None

    async def __aenter__(self) -> _Lent:
        came = time.perf_counter()
        try:
            conn = await super().__aenter__()
        except TimeoutError as error:
            self._give_up(error)
        self._pool.waited(time.perf_counter() - came)
        if self._takes_role:
            try:
                await self._take_role(conn)
            except BaseException:
                await super().__aexit__()
                raise
        return conn

    async def _take_role(self, conn: _Lent) -> None:
        self._transaction = conn.transaction()
        await self._transaction.start()
        await take_role(conn, self._pool.role)

    async def __aexit__(self, *exc: Any) -> None:
        try:
            if self._transaction is not None:
                await self._transaction.__aexit__(*exc)
        finally:
            await super().__aexit__(*exc)

    def __await__(self) -> Generator[Any, None, _Lent]:
        raise TypeError("a role pool lends connections by `async with` only")

    def _give_up(self, error: TimeoutError) -> NoReturn:
        """Whoever cannot even connect has another trouble."""
        if self._pool.get_size() < self._pool.get_max_size():
            raise error
        raise DatabaseBusy("all connections to the database are in use") from error


async def open_role_pool(dsn: str, role: str, **terms: Any) -> RolePool:
    """Raises: DatabaseUnavailable with the reason and what to check."""
    try:
        pool = RolePool(dsn, role, **terms)
        await pool
    except (*UNAVAILABLE, asyncpg.PostgresError, ValueError) as error:
        raise database_unavailable(error) from error
    return pool


async def probe(pool: RolePool) -> None:
    """Raises: DatabaseUnavailable when connections can be had, but not with the rights that they should have."""
    try:
        async with pool.acquire():
            pass
    except UNAVAILABLE:
        return  # it may come back, and every connection is looked at
    except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError) as error:
        reason = f"the database does not lend the role {pool.role}: {one_line(error)}"
        raise WrongRole(f"{reason}. `forebay doctor` says what to run") from error
    except asyncpg.PostgresError as error:
        raise database_unavailable(error) from error
