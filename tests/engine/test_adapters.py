"""All kinds of connections: a submit is committed or rolled back with the caller's transaction."""

# demands: S1-90, S2-19

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from forebay import Context, Pipeline
from forebay.engine.db import adapters, registry
from forebay.engine.db.adapters.sqlalchemy_adapter import SqlalchemyAdapter
from forebay.engine.db.loads import ItemBatch, ItemLoad
from forebay.engine.submit.producer import submit, submit_many, submit_many_sync, submit_sync
from forebay.errors import InvalidField, UnknownPipeline
from tests._servers import Server
from tests.engine._producing import ONE_ITEM, Page, counts, inputs_of, pages, papers, register, strangers


class Undone(Exception):
    """Rolls back the transaction in which it is raised."""


@pytest.fixture
async def watcher(dsn: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    """A connection that sees what is committed."""
    conn = await asyncpg.connect(dsn)
    await register(conn)
    yield conn
    await conn.close()


# Each opens a connection and a transaction that is committed, or rolled back by an exception.


@asynccontextmanager
async def asyncpg_connection(dsn: str) -> AsyncIterator[Any]:
    conn = await asyncpg.connect(dsn)
    try:
        async with conn.transaction():
            yield conn
    finally:
        await conn.close()


@asynccontextmanager
async def asyncpg_pool_connection(dsn: str) -> AsyncIterator[Any]:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool, pool.acquire() as conn, conn.transaction():
        yield conn


@asynccontextmanager
async def asyncpg_with_codecs(dsn: str) -> AsyncIterator[Any]:
    """A connection on which the application has changed the JSON codec."""
    async with asyncpg_connection(dsn) as conn:
        for kind in ("json", "jsonb"):
            await conn.set_type_codec(kind, encoder=repr, decoder=repr, schema="pg_catalog")
        yield conn


@asynccontextmanager
async def psycopg_async(dsn: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection[Any].connect(dsn, row_factory=dict_row) as conn:
        yield conn


@asynccontextmanager
async def psycopg_async_autocommit(dsn: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn, conn.transaction():
        yield conn


@asynccontextmanager
async def psycopg_async_latin(dsn: str) -> AsyncIterator[Any]:
    async with await psycopg.AsyncConnection.connect(dsn, client_encoding="latin1") as conn:
        yield conn


def sqlalchemy_url(dsn: str, driver: str) -> str:
    return dsn.replace("postgresql://", f"postgresql+{driver}://", 1)


def sqlalchemy_async(driver: str) -> Callable[[str], AbstractAsyncContextManager[Any]]:
    @asynccontextmanager
    async def opened(dsn: str) -> AsyncIterator[Any]:
        engine = create_async_engine(sqlalchemy_url(dsn, driver))
        try:
            async with engine.begin() as conn:
                yield conn
        finally:
            await engine.dispose()

    return opened


def sqlalchemy_async_session(driver: str) -> Callable[[str], AbstractAsyncContextManager[Any]]:
    @asynccontextmanager
    async def opened(dsn: str) -> AsyncIterator[Any]:
        engine = create_async_engine(sqlalchemy_url(dsn, driver))
        try:
            async with AsyncSession(engine) as session, session.begin():
                yield session
        finally:
            await engine.dispose()

    return opened


ASYNC: dict[str, Callable[[str], AbstractAsyncContextManager[Any]]] = {
    "asyncpg": asyncpg_connection,
    "asyncpg pool connection": asyncpg_pool_connection,
    "asyncpg with codecs": asyncpg_with_codecs,
    "psycopg": psycopg_async,
    "psycopg autocommit": psycopg_async_autocommit,
    "psycopg latin1": psycopg_async_latin,
    "sqlalchemy asyncpg": sqlalchemy_async("asyncpg"),
    "sqlalchemy psycopg": sqlalchemy_async("psycopg"),
    "sqlalchemy session asyncpg": sqlalchemy_async_session("asyncpg"),
    "sqlalchemy session psycopg": sqlalchemy_async_session("psycopg"),
}


@contextmanager
def psycopg_sync(dsn: str) -> Iterator[Any]:
    with psycopg.Connection[Any].connect(dsn, row_factory=dict_row) as conn:
        yield conn


@contextmanager
def psycopg_sync_autocommit(dsn: str) -> Iterator[Any]:
    with psycopg.connect(dsn, autocommit=True) as conn, conn.transaction():
        yield conn


@contextmanager
def sqlalchemy_sync(dsn: str) -> Iterator[Any]:
    engine = sqlalchemy.create_engine(sqlalchemy_url(dsn, "psycopg"))
    try:
        with engine.begin() as conn:
            yield conn
    finally:
        engine.dispose()


@contextmanager
def sqlalchemy_sync_session(dsn: str) -> Iterator[Any]:
    engine = sqlalchemy.create_engine(sqlalchemy_url(dsn, "psycopg"))
    try:
        with Session(engine) as session, session.begin():
            yield session
    finally:
        engine.dispose()


SYNC: dict[str, Callable[[str], AbstractContextManager[Any]]] = {
    "psycopg": psycopg_sync,
    "psycopg autocommit": psycopg_sync_autocommit,
    "sqlalchemy": sqlalchemy_sync,
    "sqlalchemy session": sqlalchemy_sync_session,
}


@asynccontextmanager
async def undone(opened: Callable[[str], AbstractAsyncContextManager[Any]], dsn: str) -> AsyncIterator[Any]:
    """A transaction that is rolled back at its end."""
    with suppress(Undone):
        async with opened(dsn) as conn:
            yield conn
            raise Undone


@contextmanager
def undone_sync(opened: Callable[[str], AbstractContextManager[Any]], dsn: str) -> Iterator[Any]:
    with suppress(Undone), opened(dsn) as conn:
        yield conn
        raise Undone


every_async_door = pytest.mark.parametrize("opened", ASYNC.values(), ids=ASYNC.keys())
every_sync_door = pytest.mark.parametrize("opened", SYNC.values(), ids=SYNC.keys())

ONE = Page(url='https://example.org/"q"\\u0000?né', tags=["a\tb\n"])
MANY = [Page(url=f"https://example.org/{n}\\é", tags=['"']) for n in range(1500)]

WITH_A_BAD_ROW: list[Any] = [*MANY, {"uri": "?"}]


@every_async_door
async def test_a_commit_keeps_the_job(dsn: str, watcher: asyncpg.Connection[Any], opened: Any) -> None:
    async with opened(dsn) as conn:
        submitted = await submit(conn, pages, ONE, key="k", meta={"from": "test"})
    assert submitted.created
    assert await counts(watcher) == ONE_ITEM
    assert await inputs_of(watcher, submitted.job_id) == [ONE.model_dump()]
    async with opened(dsn) as conn:
        again = await submit(conn, pages, ONE, key="k")
    assert (again.job_id, again.created) == (submitted.job_id, False)


@every_async_door
async def test_a_rollback_leaves_nothing(dsn: str, watcher: asyncpg.Connection[Any], opened: Any) -> None:
    for many in ([], MANY[:3], MANY):
        async with undone(opened, dsn) as conn:
            await submit(conn, pages, ONE)
            await submit_many(conn, pages, many)
    assert await counts(watcher) == {}


@every_async_door
@pytest.mark.parametrize("many", [3, 1500])
async def test_many_items(dsn: str, watcher: asyncpg.Connection[Any], opened: Any, many: int) -> None:
    keys = [f"key\t{n}\\" for n in range(many)]
    keys[-1] = keys[0]
    async with opened(dsn) as conn:
        submitted = await submit_many(conn, pages, MANY[:many], keys=keys, key="bulk", priority=3, delay=60)
        again = await submit_many(conn, pages, MANY[:many], key="bulk")
    assert (submitted.created, submitted.items) == (True, many - 1)
    assert (again.created, again.items, again.job_id) == (False, many - 1, submitted.job_id)
    assert await inputs_of(watcher, submitted.job_id) == [page.model_dump() for page in MANY[: many - 1]]
    stored = await watcher.fetch("select key from forebay.item order by n")
    assert [row["key"] for row in stored] == keys[:-1]
    assert await watcher.fetchval("select sum(last_n - first_n + 1) from forebay.scheduled") == many - 1
    assert await watcher.fetchval("select total from forebay.job") == many - 1


@every_async_door
async def test_a_refusal_has_forebays_own_error(dsn: str, watcher: asyncpg.Connection[Any], opened: Any) -> None:
    for many in ([ONE], MANY[:2], MANY):
        with pytest.raises(UnknownPipeline) as caught:
            async with opened(dsn) as conn:
                await (submit(conn, strangers, ONE) if many == [ONE] else submit_many(conn, strangers, many))
        assert caught.value.field == "pipeline"
        assert str(caught.value) == (
            "pipeline: there is no pipeline 'strangers' here: "
            "start its worker, or run `forebay migrate --pipelines MODULE`"
        )
    assert await counts(watcher) == {}


def newcomers(name: str = "newcomers") -> Pipeline[Page]:
    """A pipeline that no worker has registered."""
    made: Pipeline[Page] = Pipeline(name, Page)

    @made.step()
    async def fetch(ctx: Context, page: Page) -> int:
        return len(page.url)

    return made


@every_async_door
@pytest.mark.parametrize("size", [1, 2, 1500])
async def test_the_first_submit_registers_its_pipeline_with_it(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any, size: int
) -> None:
    """In the caller's transaction, which continues as if nothing had been rejected."""
    fresh = newcomers()

    async def submit_some(conn: Any) -> None:
        await (submit(conn, fresh, ONE) if size == 1 else submit_many(conn, fresh, MANY[:size]))

    with suppress(Undone):
        async with opened(dsn) as conn:
            await submit_some(conn)
            raise Undone
    assert await watcher.fetchval("select count(*) from forebay.pipeline where name = 'newcomers'") == 0
    for _ in range(3):  # unknown, registered in the meantime, and known
        async with opened(dsn) as conn:
            await submit_some(conn)
    found = await watcher.fetch("select job_id from forebay.ready r join forebay.step s on s.id = r.step_id group by 1")
    assert len(found) == 3


@every_sync_door
async def test_the_first_submit_of_a_blocking_connection_registers_its_pipeline_with_it(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any
) -> None:
    fresh = newcomers()
    for _ in range(3):
        with opened(dsn) as conn:
            submit_sync(conn, fresh, ONE)
            submit_many_sync(conn, fresh, MANY)
    assert await watcher.fetchval("select count(*) from forebay.job") == 6


@pytest.fixture
def second_dsn(server: Server, _template: str) -> Iterator[str]:
    """Another database of the same server."""
    with server.database(template=_template) as dsn:
        yield dsn


@every_async_door
async def test_a_pipeline_that_is_known_in_one_database_is_registered_in_another(
    dsn: str, second_dsn: str, opened: Any
) -> None:
    fresh = newcomers()
    for at in (dsn, dsn, dsn, second_dsn, second_dsn, dsn):
        async with opened(at) as conn:
            await submit(conn, fresh, ONE)
    for at in (dsn, second_dsn):
        async with asyncpg.create_pool(at, min_size=0, max_size=2) as pool:
            await submit(pool, fresh, ONE)
            found = await adapters.adapter_for(pool).database()
            async with pool.acquire() as conn:
                assert await adapters.adapter_for(conn).database() == found is not None
    for at, jobs in ((dsn, 5), (second_dsn, 3)):
        conn = await asyncpg.connect(at)
        try:
            assert await conn.fetchval("select count(*) from forebay.job") == jobs
        finally:
            await conn.close()


@every_sync_door
def test_the_same_holds_for_blocking_connections(dsn: str, second_dsn: str, opened: Any) -> None:
    fresh = newcomers()
    for at in (dsn, dsn, dsn, second_dsn, second_dsn, dsn):
        with opened(at) as conn:
            submit_sync(conn, fresh, ONE)
    for at, jobs in ((dsn, 4), (second_dsn, 2)):
        with psycopg.connect(at) as conn:
            assert conn.execute("select count(*) from forebay.job").fetchone() == (jobs,)


async def test_a_transaction_that_registers_a_pipeline_keeps_no_worker_of_others_waiting(
    dsn: str, watcher: asyncpg.Connection[Any]
) -> None:
    async with asyncpg_connection(dsn) as conn:
        await submit(conn, newcomers(), ONE)
        await watcher.execute("set lock_timeout = '5s'")
        assert (await registry.register(watcher, newcomers("others").definition())).steps


WAITING = """
select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
"""


async def test_two_transactions_that_register_the_same_pipelines_do_not_wait_for_each_other(
    dsn: str, watcher: asyncpg.Connection[Any]
) -> None:
    """Each begins with the pipeline that the other one ends with."""
    first, second = newcomers("first"), newcomers("second")

    async def submit_in_other_order() -> None:
        async with asyncpg_connection(dsn) as conn:
            await submit(conn, second, ONE)
            await submit(conn, first, ONE)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group, asyncpg_connection(dsn) as conn:
        await submit(conn, first, ONE)
        other = group.create_task(submit_in_other_order())
        while not await watcher.fetchval(WAITING):
            assert not other.done()
        await submit(conn, second, ONE)
    assert await watcher.fetchval("select count(*) from forebay.job") == 4


async def test_who_may_not_register_is_told_what_to_do(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    conn = await asyncpg.connect(dsn)
    try:
        await conn.execute("set role forebay_api")
        with pytest.raises(UnknownPipeline, match=r"may not register it: .*`forebay migrate --pipelines MODULE`"):
            await submit(conn, newcomers(), ONE)
    finally:
        await conn.close()


@every_async_door
async def test_a_bad_row_in_a_long_list_leaves_the_transaction_usable(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any
) -> None:
    async with opened(dsn) as conn:
        with pytest.raises(InvalidField, match=r"^inputs\[1500\]\.url: Field required$"):
            await submit_many(conn, pages, WITH_A_BAD_ROW)
        await submit(conn, pages, ONE)
    assert await counts(watcher) == ONE_ITEM


async def test_a_pool_commits_by_itself(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        await submit(pool, pages, ONE)
        assert await counts(watcher) == ONE_ITEM
        submitted = await submit_many(pool, pages, MANY)
        with pytest.raises(InvalidField):
            await submit_many(pool, pages, WITH_A_BAD_ROW)
    assert await inputs_of(watcher, submitted.job_id) == [page.model_dump() for page in MANY]
    assert (await counts(watcher))["item"] == 1501


async def test_a_connection_outside_a_transaction_commits_by_itself(dsn: str, watcher: asyncpg.Connection[Any]) -> None:
    submitted = await submit_many(watcher, pages, MANY)
    assert (await counts(watcher))["item"] == submitted.items == 1500
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conn:
        await submit_many(conn, pages, MANY)
        assert (await counts(watcher))["item"] == 3000


@every_sync_door
async def test_a_commit_keeps_the_job_of_a_blocking_connection(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any
) -> None:
    with opened(dsn) as conn:
        submitted = submit_sync(conn, pages, ONE, key="k")
        assert not submit_sync(conn, pages, ONE, key="k").created
    assert await counts(watcher) == ONE_ITEM
    assert await inputs_of(watcher, submitted.job_id) == [ONE.model_dump()]


@every_sync_door
async def test_a_rollback_leaves_nothing_of_a_blocking_connection(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any
) -> None:
    for many in ([], MANY[:3], MANY):
        with undone_sync(opened, dsn) as conn:
            submit_sync(conn, pages, ONE)
            submit_many_sync(conn, pages, many)
    with pytest.raises(UnknownPipeline), opened(dsn) as conn:
        submit_sync(conn, strangers, ONE)
    assert await counts(watcher) == {}


@every_sync_door
@pytest.mark.parametrize("many", [3, 1500])
async def test_many_items_of_a_blocking_connection(
    dsn: str, watcher: asyncpg.Connection[Any], opened: Any, many: int
) -> None:
    with opened(dsn) as conn:
        submitted = submit_many_sync(conn, pages, iter(MANY[:many]), keys=iter([None] * many))
        with pytest.raises(InvalidField):
            submit_many_sync(conn, pages, WITH_A_BAD_ROW)
    assert await inputs_of(watcher, submitted.job_id) == [page.model_dump() for page in MANY[:many]]
    assert (await counts(watcher))["item"] == many


@pytest.mark.parametrize("style", ["format", "pyformat"])
async def test_drivers_without_copy_get_arrays(
    dsn: str, watcher: asyncpg.Connection[Any], monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    monkeypatch.setattr(adapters, "_SYNC", {})
    engine = sqlalchemy.create_engine(sqlalchemy_url(dsn, "psycopg"))
    engine.dialect.paramstyle = style
    with engine.begin() as conn:
        load = ItemLoad(1, 2, 3, [ItemBatch([1, 2], ["a", None], [b"{}", b'"%s"'])])
        SqlalchemyAdapter(conn).copy_items(load)
    engine.dispose()
    rows = await watcher.fetch("select n, key, input, job_id, owner_id, pipeline_id from forebay.item order by n")
    assert [tuple(row) for row in rows] == [(1, "a", "{}", 1, 2, 3), (2, None, '"%s"', 1, 2, 3)]


async def test_what_only_the_database_can_refuse_is_an_invalid_input(watcher: asyncpg.Connection[Any]) -> None:
    with pytest.raises(InvalidField, match=r"^input: has a number that PostgreSQL cannot hold$"):
        await submit(watcher, papers, {"n": 10**140_000})
    assert await counts(watcher) == {}


async def test_an_unknown_connection_is_refused(dsn: str) -> None:
    engine = sqlalchemy.create_engine(sqlalchemy_url(dsn, "psycopg"))
    for conn in (object(), dsn, engine):
        with pytest.raises(TypeError) as caught:
            await submit(conn, pages, ONE)  # type: ignore[arg-type]
        kind = f"{type(conn).__module__}.{type(conn).__qualname__}"
        assert str(caught.value) == (
            "a connection must be one of: asyncpg Connection or Pool; psycopg AsyncConnection; "
            f"SQLAlchemy AsyncConnection or AsyncSession. This is a {kind}."
        )
    with pytest.raises(TypeError, match="one of: psycopg Connection; SQLAlchemy Connection or Session"):
        submit_sync(object(), pages, ONE)  # type: ignore[arg-type]


def test_no_optional_library_is_imported() -> None:
    code = "import sys, forebay.engine.submit.producer; print(sorted({'psycopg', 'sqlalchemy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
