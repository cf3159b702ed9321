"""The ways into the caller's transaction: a small adapter for each kind of connection, all with the same SQL.

Statements have $1-style parameters. Values are text, numbers, booleans, datetimes and lists of them, cast in
the SQL: what codecs or type maps the caller has put on the connection then does not matter.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Hashable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import asyncpg

from forebay.db.pool import CONFLICT, UNAVAILABLE
from forebay.engine.db.loads import COLUMNS, Args, Heap, ItemLoad
from forebay.engine.db.sql import load
from forebay.errors import ForebayError, InvalidField, RequestError, from_sqlstate

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from types import TracebackType

    import psycopg
    from asyncpg.pool import PoolConnectionProxy
    from sqlalchemy import Connection, CursorResult
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
    from sqlalchemy.orm import Session

    AsyncConn: TypeAlias = (
        asyncpg.Connection[Any]
        | PoolConnectionProxy[Any]
        | asyncpg.Pool[Any]
        | psycopg.AsyncConnection[Any]
        | AsyncConnection
        | AsyncSession
    )
    SyncConn: TypeAlias = psycopg.Connection[Any] | Connection | Session

Row: TypeAlias = Sequence[Any]

# What passes when the same is tried again. A connection of asyncpg's that was cut while it lay idle says "internal".
RETRYABLE = (*CONFLICT, *UNAVAILABLE, asyncpg.InternalClientError)


class AsyncAdapter(Protocol):
    """What every async connection can do for a submit."""

    async def database(self) -> Hashable | None:
        """What tells its database from others, without asking the server; None when that cannot be told."""
        ...

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        """Run one statement and return its rows."""
        ...

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        """Run one statement and return its first row."""
        ...

    async def copy_items(self, items: ItemLoad) -> None:
        """Store items the fastest way that the driver has."""
        ...

    def atomic(self) -> AbstractAsyncContextManager[AsyncAdapter]:
        """All or nothing: a savepoint in the caller's transaction, or a transaction when there is none."""
        ...


class SyncAdapter(Protocol):
    """The same for connections that block."""

    def database(self) -> Hashable | None: ...

    def fetch_all(self, sql: str, args: Args) -> Sequence[Row]: ...

    def fetch_row(self, sql: str, args: Args) -> Row | None: ...

    def copy_items(self, items: ItemLoad) -> None: ...

    def atomic(self) -> AbstractContextManager[SyncAdapter]: ...


# Errors.

# The SQLSTATEs with which PostgreSQL says that a text cannot be what it was sent as.
_BAD_INPUT = {
    "22003": "has a number that PostgreSQL cannot hold",
    "22021": "has text that is not valid in the database's encoding",
    "22P02": "is not valid JSON",
    "22P05": "has a character that the database cannot store",
    "54000": "is larger than PostgreSQL can hold",
    "54001": "is nested too deeply",
}


def refusal(error: BaseException) -> RequestError | None:
    """What a driver's error says about the request; None when the request is not at fault."""
    if isinstance(error, ForebayError):
        return None  # raised by what makes the items, while they were on their way
    origin: Any = getattr(error, "orig", None) or error  # SQLAlchemy wraps the driver's errors …
    if not hasattr(origin, "diag") and not hasattr(origin, "column_name"):
        origin = origin.__cause__ or origin  # … and those of asyncpg twice
    diag: Any = getattr(origin, "diag", None)
    sqlstate: str | None = getattr(origin, "sqlstate", None) or getattr(diag, "sqlstate", None)
    if sqlstate is None:
        return None
    if reason := _BAD_INPUT.get(sqlstate):
        return InvalidField("input", reason)
    if diag is not None:
        return from_sqlstate(sqlstate, diag.column_name, diag.message_primary or "")
    return from_sqlstate(sqlstate, origin.column_name, str(origin))


class _Refusals:
    """Raises forebay's error in place of the driver's where the request is at fault."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and (better := refusal(error)):
            raise better from error


_refusals = _Refusals()


# Parameters.

_PARAMETER = re.compile(r"\$(\d+)")


@cache
def _named(sql: str) -> str:
    """The statement with %(p1)s in place of $1."""
    return _PARAMETER.sub(r"%(p\1)s", sql.replace("%", "%%"))


def _names(args: Args) -> dict[str, object]:
    return {f"p{place}": value for place, value in enumerate(args, 1)}


@cache
def _positional(sql: str) -> tuple[str, tuple[int, ...]]:
    """The statement with %s in place of $1, and which argument goes where."""
    places = tuple(int(found[1]) - 1 for found in _PARAMETER.finditer(sql))
    return _PARAMETER.sub("%s", sql.replace("%", "%%")), places


def _for_style(style: str, sql: str, args: Args) -> tuple[str, Any]:
    """The statement and its arguments as a driver of this DB-API paramstyle takes them."""
    if style == "numeric_dollar":
        return sql, tuple(args)
    if style == "pyformat":
        return _named(sql), _names(args)
    text, places = _positional(sql)
    return text, tuple(args[place] for place in places)


# Databases.


def _database_of(conn: Any) -> Hashable | None:
    """Where a driver's connection goes: the server's address and the name of the database."""
    if info := getattr(conn, "info", None):  # psycopg
        return (info.host, info.port, info.dbname)
    address, asked = getattr(conn, "_addr", None), getattr(conn, "_params", None)  # asyncpg has no other way to tell
    name = getattr(asked, "database", None)
    return None if address is None or name is None else (address, name)


# asyncpg.


class AsyncpgAdapter:
    """An asyncpg connection, or one lent by a pool."""

    def __init__(self, conn: asyncpg.Connection[Any] | PoolConnectionProxy[Any]) -> None:
        self._conn = conn

    async def database(self) -> Hashable | None:
        return _database_of(self._conn)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        with _refusals:
            return await self._conn.fetch(sql, *args)

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        with _refusals:
            return await self._conn.fetchrow(sql, *args)

    async def copy_items(self, items: ItemLoad) -> None:
        with _refusals:
            # PostgreSQL has no COPY for roles that row-level security applies to.
            if await self._conn.fetchval("select row_security_active('forebay.item')"):
                await self._insert(items)
                return
            await self._conn.copy_to_table(
                "item",
                schema_name="forebay",
                columns=COLUMNS,
                format="binary",
                source=_yielding(items.blocks()),
            )

    async def _insert(self, items: ItemLoad) -> None:
        heap = Heap()
        for batch in items.batches:
            if heap.add(batch):
                await self._send(items, heap)
            await asyncio.sleep(0)
        await self._send(items, heap)

    async def _send(self, items: ItemLoad, heap: Heap) -> None:
        if (batch := heap.take()) is not None:
            await self._conn.execute(load("insert_items"), *items.arguments(batch))

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        async with self._conn.transaction():
            yield self


async def _yielding(blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The blocks, with a breath for the event loop's other tasks after each."""
    for block in blocks:
        yield block
        await asyncio.sleep(0)


class AsyncpgPoolAdapter:
    """An asyncpg pool: what must be one transaction gets a connection for it."""

    def __init__(self, pool: asyncpg.Pool[Any]) -> None:
        self._pool = pool

    async def database(self) -> Hashable | None:
        opened = (getattr(holder, "_con", None) for holder in reversed(getattr(self._pool, "_holders", ())))
        return next((_database_of(conn) for conn in opened if conn is not None), None)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        with _refusals:
            return await self._pool.fetch(sql, *args)

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        with _refusals:
            return await self._pool.fetchrow(sql, *args)

    async def copy_items(self, items: ItemLoad) -> None:
        async with self._pool.acquire() as conn:
            await AsyncpgAdapter(conn).copy_items(items)

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        async with self._pool.acquire() as conn, AsyncpgAdapter(conn).atomic() as adapter:
            yield adapter


# psycopg.


def _begins_by_itself(conn: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether transaction() would begin, and so also commit, what belongs to the caller."""
    return not conn.autocommit and conn.info.transaction_status.name == "IDLE"


class AsyncPsycopgAdapter:
    """A psycopg AsyncConnection."""

    def __init__(self, conn: psycopg.AsyncConnection[Any]) -> None:
        self._conn = conn

    async def database(self) -> Hashable | None:
        return _database_of(self._conn)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        from psycopg.rows import tuple_row  # noqa: PLC0415 - optional

        async with self._conn.cursor(row_factory=tuple_row) as cursor:
            with _refusals:
                await cursor.execute(_named(sql).encode(), _names(args))
            return await cursor.fetchall() if cursor.description else []

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(await self.fetch_all(sql, args)), None)

    async def copy_items(self, items: ItemLoad) -> None:
        if self._conn.info.encoding != "utf-8":
            for values in items.columns():
                await self.fetch_all(_insert_sql(), values)
            return
        async with self._conn.cursor() as cursor:
            with _refusals:
                async with cursor.copy(_copy_sql()) as copy:
                    for block in items.blocks():
                        await copy.write(block)

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        if _begins_by_itself(self._conn):
            await self._conn.execute("select 1")
        async with self._conn.transaction():
            yield self


class PsycopgAdapter:
    """A psycopg Connection."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self._conn = conn

    def database(self) -> Hashable | None:
        return _database_of(self._conn)

    def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        from psycopg.rows import tuple_row  # noqa: PLC0415 - optional

        with self._conn.cursor(row_factory=tuple_row) as cursor:
            with _refusals:
                cursor.execute(_named(sql).encode(), _names(args))
            return cursor.fetchall() if cursor.description else []

    def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(self.fetch_all(sql, args)), None)

    def copy_items(self, items: ItemLoad) -> None:
        if self._conn.info.encoding != "utf-8":
            for values in items.columns():
                self.fetch_all(_insert_sql(), values)
            return
        with self._conn.cursor() as cursor, _refusals, cursor.copy(_copy_sql()) as copy:
            for block in items.blocks():
                copy.write(block)

    @contextmanager
    def atomic(self) -> Generator[SyncAdapter, None, None]:
        if _begins_by_itself(self._conn):
            self._conn.execute("select 1")
        with self._conn.transaction():
            yield self


def _copy_sql() -> bytes:
    return load("copy_items").encode()


def _insert_sql() -> str:
    return load("insert_items")


# SQLAlchemy.


class AsyncSqlalchemyAdapter:
    """A SQLAlchemy AsyncConnection, over any of its async drivers."""

    def __init__(self, conn: AsyncConnection) -> None:
        self._conn = conn

    async def connection(self) -> AsyncConnection:
        return self._conn

    async def database(self) -> Hashable | None:
        raw = await (await self.connection()).get_raw_connection()
        return _database_of(raw.driver_connection)

    async def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        conn = await self.connection()
        text, values = _for_style(conn.dialect.paramstyle, sql, args)
        with _refusals:
            return _rows(await conn.exec_driver_sql(text, values))

    async def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(await self.fetch_all(sql, args)), None)

    async def copy_items(self, items: ItemLoad) -> None:
        raw = await (await self.connection()).get_raw_connection()
        make = _made_for(raw.driver_connection, _ASYNC)
        if make is not None:
            await make(raw.driver_connection).copy_items(items)
            return
        for values in items.columns():
            await self.fetch_all(_insert_sql(), values)

    @asynccontextmanager
    async def atomic(self) -> AsyncGenerator[AsyncAdapter, None]:
        async with (await self.connection()).begin_nested():
            yield self


class AsyncSessionAdapter(AsyncSqlalchemyAdapter):
    """A SQLAlchemy AsyncSession: its own connection, in its own transaction."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def connection(self) -> AsyncConnection:
        return await self._session.connection()


class SqlalchemyAdapter:
    """A SQLAlchemy Connection; COPY with psycopg, arrays with other drivers."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def connection(self) -> Connection:
        return self._conn

    def database(self) -> Hashable | None:
        return _database_of(self.connection().connection.driver_connection)

    def fetch_all(self, sql: str, args: Args) -> Sequence[Row]:
        conn = self.connection()
        text, values = _for_style(conn.dialect.paramstyle, sql, args)
        with _refusals:
            return _rows(conn.exec_driver_sql(text, values))

    def fetch_row(self, sql: str, args: Args) -> Row | None:
        return next(iter(self.fetch_all(sql, args)), None)

    def copy_items(self, items: ItemLoad) -> None:
        driver = self.connection().connection.driver_connection
        make = _made_for(driver, _SYNC)
        if make is not None:
            make(driver).copy_items(items)
            return
        for values in items.columns():
            self.fetch_all(_insert_sql(), values)

    @contextmanager
    def atomic(self) -> Generator[SyncAdapter, None, None]:
        with self.connection().begin_nested():
            yield self


class SessionAdapter(SqlalchemyAdapter):
    """A SQLAlchemy Session: its own connection, in its own transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def connection(self) -> Connection:
        return self._session.connection()


def _rows(result: CursorResult[Any]) -> Sequence[Row]:
    return result.all() if result.returns_rows else []


# The names of a connection's classes select its adapter, so that no library is imported to find it.

_Adapter = TypeVar("_Adapter", AsyncAdapter, SyncAdapter)

_ASYNC: dict[tuple[str, str], Callable[[Any], AsyncAdapter]] = {
    ("asyncpg", "Connection"): AsyncpgAdapter,
    ("asyncpg", "PoolConnectionProxy"): AsyncpgAdapter,
    ("asyncpg", "Pool"): AsyncpgPoolAdapter,
    ("psycopg", "AsyncConnection"): AsyncPsycopgAdapter,
    ("sqlalchemy", "AsyncConnection"): AsyncSqlalchemyAdapter,
    ("sqlalchemy", "AsyncSession"): AsyncSessionAdapter,
    ("sqlalchemy", "async_scoped_session"): AsyncSessionAdapter,
}
_SYNC: dict[tuple[str, str], Callable[[Any], SyncAdapter]] = {
    ("psycopg", "Connection"): PsycopgAdapter,
    ("sqlalchemy", "Connection"): SqlalchemyAdapter,
    ("sqlalchemy", "Session"): SessionAdapter,
    ("sqlalchemy", "scoped_session"): SessionAdapter,
}


def adapter_for(conn: AsyncConn) -> AsyncAdapter:
    """The adapter of an async connection.

    Raises:
        TypeError: it is of a kind that forebay does not know, or one that blocks.
    """
    make = _made_for(conn, _ASYNC)
    if make is None:
        raise _unknown(
            conn,
            "asyncpg Connection or Pool",
            "psycopg AsyncConnection",
            "SQLAlchemy AsyncConnection or AsyncSession",
        )
    return make(conn)


def sync_adapter_for(conn: SyncConn) -> SyncAdapter:
    """The adapter of a connection that blocks.

    Raises:
        TypeError: it is of a kind that forebay does not know, or an async one.
    """
    make = _made_for(conn, _SYNC)
    if make is None:
        raise _unknown(conn, "psycopg Connection", "SQLAlchemy Connection or Session")
    return make(conn)


def _made_for(
    conn: object, adapters: dict[tuple[str, str], Callable[[Any], _Adapter]]
) -> Callable[[Any], _Adapter] | None:
    for kind in type(conn).__mro__:
        if found := adapters.get((kind.__module__.partition(".")[0], kind.__name__)):
            return found
    return None


def _unknown(conn: object, *accepted: str) -> TypeError:
    given = f"{type(conn).__module__}.{type(conn).__qualname__}"
    return TypeError(f"a connection must be one of: {'; '.join(accepted)}. This is a {given}.")
