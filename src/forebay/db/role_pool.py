"""A role pool: its connections have the rights of one role, and the wait for a connection is limited.

A session of our own gets its role when it starts. Behind a transaction-mode pooler (`prepared=False`), sessions are
shared: each transaction sets the role, and nothing happens outside of a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncpg

from forebay.db.measured_pool import MeasuredAcquire, MeasuredPool, opened
from forebay.db.pool import UNAVAILABLE, database_unavailable
from forebay.db.statements import statements
from forebay.errors import DatabaseBusy, WrongRole, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import NoReturn

    from asyncpg.transaction import Transaction

    from forebay.db.measured_pool import Acquired
    from forebay.db.pool import Connection

load = statements("forebay.db")

API, ADMIN, IDENTITY = "forebay_api", "forebay_admin", "forebay_identity"


class RolePool(MeasuredPool):
    """The connections of one role."""

    def __init__(
        self,
        dsn: str,
        role: str,
        *,
        size: int,
        max_wait: float,
        timeout: float,
        prepared: bool,
        waited: Callable[[float], None],
    ) -> None:
        self.role = role
        self.max_wait = max_wait
        super().__init__(
            dsn,
            size=size,
            name=role.replace("_", " "),
            prepared=prepared,
            timeout=timeout,
            waited=waited,
            session={"role": role} if prepared else {},
        )

    def acquire(self, *, timeout: float | None = None) -> MeasuredAcquire:
        """A connection with the role.

        Raises: DatabaseBusy if there is none for too long.
        """
        return _RoleAcquire(self, timeout or self.max_wait, takes_role=not self._has_sessions)

    def without_role(self) -> MeasuredAcquire:
        """The same for callers whose first statement sets the role: behind a pooler, this connection does not have it
        yet."""
        return _RoleAcquire(self, self.max_wait, takes_role=False)

    async def _begin(self, conn: Connection) -> None:
        """Raises: WrongRole for a connection that must not be used."""
        if self._has_sessions:
            await super()._begin(conn)
            await self._check(conn)
        else:
            async with conn.transaction():
                await take_role(conn, self.role)
                await self._check(conn)

    async def _check(self, conn: Connection) -> None:
        row = await conn.fetchrow(load("check_role"), self.role)
        if row is None or not row["is_role"]:
            raise WrongRole(
                f"connections to the database do not have the role {self.role}: a pooler or proxy drops it. "
                "Behind a transaction-mode pooler set FOREBAY_PREPARED_STATEMENTS=false"
            )
        if self.role == API and row["is_guarded"] is False:
            raise WrongRole(
                f"row-level security does not apply to {self.role}: it must not be a superuser, own the tables "
                "or have BYPASSRLS. Fix the role, and run `forebay migrate`"
            )


async def take_role(conn: Connection, role: str) -> None:
    """Set the role until the transaction ends."""
    await conn.execute("select set_config('role', $1, true)", role)


class _RoleAcquire(MeasuredAcquire):
    """An acquired connection that sets its role, if the session does not have it."""

    def __init__(self, pool: RolePool, timeout: float, *, takes_role: bool) -> None:
        super().__init__(pool, timeout)
        self._pool = pool
        self._takes_role = takes_role
        self._transaction: Transaction | None = None

    async def __aenter__(self) -> Acquired:
        try:
            conn = await super().__aenter__()
        except TimeoutError as error:
            self._raise_busy(error)
        if self._takes_role:
            try:
                await self._take_role(conn)
            except BaseException:
                await super().__aexit__()
                raise
        return conn

    async def _take_role(self, conn: Acquired) -> None:
        self._transaction = conn.transaction()
        await self._transaction.start()
        await take_role(conn, self._pool.role)

    async def __aexit__(self, *exc: Any) -> None:
        try:
            if self._transaction is not None:
                await self._transaction.__aexit__(*exc)
        finally:
            await super().__aexit__(*exc)

    def __await__(self) -> Generator[Any, None, Acquired]:
        raise TypeError("acquire a connection of a role pool with `async with`")

    def _raise_busy(self, error: TimeoutError) -> NoReturn:
        """Raise DatabaseBusy, unless the database cannot be reached at all."""
        if self._pool.get_size() < self._pool.get_max_size():
            raise error
        raise DatabaseBusy("all connections to the database are in use") from error


async def open_role_pool(dsn: str, role: str, **terms: Any) -> RolePool:
    """Raises: DatabaseUnavailable with the reason and what to check."""
    return await opened(lambda: RolePool(dsn, role, **terms))


async def probe(pool: RolePool) -> None:
    """Raises: DatabaseUnavailable if connections are possible, but not with the rights that they should have."""
    try:
        async with pool.acquire():
            pass
    except UNAVAILABLE:
        return  # it may become available, and every connection is checked
    except (asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError) as error:
        reason = f"the database does not grant the role {pool.role}: {one_line(error)}"
        raise WrongRole(f"{reason}. Run `forebay doctor` for instructions") from error
    except asyncpg.PostgresError as error:
        raise database_unavailable(error) from error
