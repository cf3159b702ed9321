"""Connections: one pool per process, errors converted into forebay's, and waiting for an unavailable database."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

import asyncpg

from forebay.db.hosts import connect_to_primary, note_answer
from forebay.db.tcp import KeepaliveConnection
from forebay.errors import DatabaseUnavailable, ForebayError, InvalidField, SchemaError, from_sqlstate, one_line
from forebay.waits import Backoff

T = TypeVar("T")

Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"

# Raised when the server, or the connection to it, is lost.
UNAVAILABLE = (
    OSError,
    asyncio.TimeoutError,
    ssl.SSLError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    # The server has a problem: full disk, no memory, shutting down, locked, read-only after a failover.
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.PostgresSystemError,
    asyncpg.InternalServerError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)

# Raised for a defect, or for damaged data: a retry rarely helps. Poolers raise it when they have no connection, too.
INTERNAL = (asyncpg.InternalServerError,)

# Raised by the server or the driver for invalid values.
REJECTED = (asyncpg.PostgresError, asyncpg.DataError, ValueError, UnicodeError)

# Raised by the driver for statements that are used incorrectly, on a working connection.
MISUSED = (asyncpg.InterfaceError, asyncpg.InternalClientError, TypeError, ValueError)

_UNWRITABLE = (asyncpg.CharacterNotInRepertoireError, asyncpg.UntranslatableCharacterError)
_NO_SCHEMA = (asyncpg.UndefinedFunctionError, asyncpg.InvalidSchemaNameError, asyncpg.UndefinedTableError)

# Caused by another transaction; the same statement can succeed when it is retried.
CONFLICT = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.OutdatedSchemaCacheError,
    asyncpg.InvalidCachedStatementError,  # a migration has changed what a prepared statement returns
)


async def open_pool(
    dsn: str, *, size: int, name: str, prepared: bool = True, timeout: float = 60, at_once: bool = False
) -> Pool:
    """A pool of at most `size` connections; `prepared=False` suits a transaction-mode pooler. Connections are opened
    when they are needed; with `at_once`, the first one is opened now.

    Raises: DatabaseUnavailable with the reason and what to check.
    """
    try:
        pool = await asyncpg.create_pool(
            dsn,
            init=partial(set_transaction_timeout, timeout=timeout) if prepared else None,
            connection_class=KeepaliveConnection,
            **pool_options(size, timeout, prepared=prepared),
            **connection_options(name, timeout, prepared=prepared),
        )
        if at_once:
            await pool.release(await pool.acquire())
    except (*UNAVAILABLE, asyncpg.PostgresError, ValueError) as error:
        raise database_unavailable(error) from error
    return pool


def pool_options(size: int, timeout: float, *, prepared: bool) -> dict[str, Any]:
    """The options of all our pools."""
    return {
        "min_size": 0,
        "max_size": size,
        "max_inactive_connection_lifetime": 300,
        "connect": connect_to_primary,
        "reset": _note_answer if prepared else _skip_reset,
        "command_timeout": timeout,
        "timeout": min(timeout, 10),
    }


def connection_options(name: str, timeout: float, *, prepared: bool) -> dict[str, Any]:
    """The options of their connections."""
    return {
        "statement_cache_size": 200 if prepared else 0,
        "max_cached_statement_lifetime": 0,  # our statements are few and always in use
        "server_settings": _session(name, timeout) if prepared else {"application_name": name},
    }


def _session(name: str, timeout: float) -> dict[str, str]:
    """A transaction whose client has disappeared must not keep its locks, because others wait for them."""
    return {
        "application_name": name,
        "idle_in_transaction_session_timeout": str(int(timeout * 1000)),
        "tcp_keepalives_idle": "10",
        "tcp_keepalives_interval": "5",
        "tcp_keepalives_count": "3",
    }


async def set_transaction_timeout(conn: Connection, *, timeout: float) -> None:
    """The same for a client that disappeared during a statement; requires PostgreSQL 17 or newer."""
    if conn.get_server_version().major >= 17:
        await conn.execute(f"set transaction_timeout = {int(timeout * 2000)}")


async def close_pool(pool: Pool) -> None:
    """Close a pool gracefully; terminate it if the server does not respond."""
    try:
        async with asyncio.timeout(5):
            await pool.close()
    except (TimeoutError, *UNAVAILABLE):
        pool.terminate()


async def _skip_reset(_conn: object) -> None:
    """Skip the reset of a session, and save its round trip: our code does not change a session after its start.

    The statements of steps use the same sessions, so they must not change them either.
    """


async def _note_answer(conn: asyncpg.Connection[asyncpg.Record]) -> None:
    """The same; what a connection was used for has been answered."""
    note_answer(conn)


async def connect(
    dsn: str, *, name: str = "forebay", timeout: float = 10, prepared: bool = False
) -> asyncpg.Connection[asyncpg.Record]:
    """One connection outside a pool, e.g. for LISTEN or migrations. `prepared` as in `open_pool`: worth it only for a
    connection that sends the same statements for long, and impossible behind some poolers."""
    try:
        return await connect_to_primary(
            dsn,
            timeout=timeout,
            statement_cache_size=100 if prepared else 0,
            connection_class=KeepaliveConnection,
            server_settings={"application_name": name},
        )
    except (*UNAVAILABLE, asyncpg.PostgresError, ValueError) as error:
        raise database_unavailable(error) from error


def database_unavailable(error: BaseException) -> DatabaseUnavailable:
    """The error with instructions."""
    # An invalid address is not quoted, because the text may contain a part of the password.
    reason = "its address is invalid" if isinstance(error, ValueError) else one_line(error)
    return DatabaseUnavailable(
        f"cannot use the database: {reason}. Check that PostgreSQL runs and that FOREBAY_DATABASE_URL is right."
    )


def is_usable(conn: Connection) -> bool:
    """Whether an acquired connection is still open."""
    try:
        return not conn.is_closed()
    except asyncpg.InterfaceError:  # the pool has already released it, because it failed
        return False


def terminate(conn: Connection) -> None:
    """Close an acquired connection without a message to the server."""
    with suppress(asyncpg.InterfaceError):
        conn.terminate()


async def release(pool: Pool, conn: Connection) -> None:
    """Return a connection to its pool, whatever its state."""
    with suppress(*UNAVAILABLE):
        await pool.release(cast("Any", conn))


@asynccontextmanager
async def translating_errors() -> AsyncGenerator[None]:
    """Convert errors of the server into forebay's."""
    try:
        yield
    except asyncpg.PostgresError as error:
        ours = from_sqlstate(error.sqlstate, getattr(error, "column_name", None), str(error.args[0]))
        if ours is not None:
            raise ours from None
        # The driver reports this as well: for an unpaired surrogate, which JSON allows.
        if isinstance(error, _UNWRITABLE) or isinstance(error.__cause__, UnicodeError):
            raise InvalidField("request", "contains a character that cannot be stored, such as U+0000") from error
        if isinstance(error, _NO_SCHEMA):
            hint = "run `forebay migrate`, or `forebay migrate --service` for what the service needs"
            raise SchemaError(f"{error.args[0]}; {hint}") from error
        raise


@asynccontextmanager
async def connected(dsn: str, name: str) -> AsyncGenerator[Connection, None]:
    """A connection for interactive commands; all errors are converted into forebay's."""
    conn = await connect(dsn, name=name)
    try:
        async with as_forebay_errors():
            yield conn
    finally:
        conn.terminate()


@asynccontextmanager
async def as_forebay_errors() -> AsyncGenerator[None, None]:
    """Convert a lost connection and a rejection by the server into forebay's errors."""
    try:
        async with translating_errors():
            yield
    except ForebayError:
        raise
    except UNAVAILABLE as error:
        raise database_unavailable(error) from error
    except asyncpg.PostgresError as error:
        raise ForebayError(f"the database rejected the statement: {error}") from error


async def retry_until_up(
    call: Callable[[], Awaitable[T]], on_lost: Callable[[BaseException, float], Any], timeout: float | None = None
) -> T:
    """Repeat a call until the database is available, with growing pauses; conflicts are retried soon.

    `timeout` limits a call as a whole: the driver limits each statement, but not everything that it does around them.
    """
    backoff = Backoff(0.05, 5)
    while True:
        try:
            async with asyncio.timeout(timeout):
                return await call()
        except CONFLICT as error:
            on_lost(error, 0.01)
            await asyncio.sleep(0.01)
        except UNAVAILABLE as error:
            pause = backoff.grow()
            on_lost(error, pause)
            await asyncio.sleep(pause)
