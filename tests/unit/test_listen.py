"""A connection that listens does so also when the statements of others do not work on it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from forebay.db import listen
from forebay.db.listen import CHANNEL, Listener
from forebay.db.pool import connected
from forebay.engine.db import tasks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from forebay.db.pool import Connection


class Heard:
    """A listener, and what it hears."""

    def __init__(self, dsn: str, warm_up: Callable[[Connection], Awaitable[object]]) -> None:
        self.messages = asyncio.Queue[str]()
        self._dsn = dsn
        self._listens = asyncio.Event()
        self.listener = Listener(dsn, self.messages.put_nowait, self._listens.set, warm_up=warm_up)

    async def next_message(self) -> str:
        await self._listens.wait()
        async with connected(self._dsn, "tests") as conn:
            await conn.execute("select pg_notify($1, 'heard')", CHANNEL)
        return await self.messages.get()


@asynccontextmanager
async def listening(dsn: str, warm_up: Callable[[Connection], Awaitable[object]]) -> AsyncGenerator[Heard]:
    heard = Heard(dsn, warm_up)
    async with asyncio.timeout(60):
        running = asyncio.create_task(heard.listener.run())
        body = asyncio.current_task()
        assert body is not None
        running.add_done_callback(lambda ended: None if ended.cancelled() else body.cancel())
        try:
            yield heard
        finally:
            running.cancel()
            await asyncio.wait([running])


async def test_an_account_that_may_only_listen_listens(dsn: str) -> None:
    """As the functions of another release, or those that a migration replaces."""

    async def may_not_claim(conn: Connection) -> None:
        await conn.execute("set role pg_monitor")
        await tasks.prepare_claims(conn)

    async with listening(dsn, may_not_claim) as heard:
        assert await heard.next_message() == "heard"
        assert heard.listener.take() is None


async def test_a_connection_whose_statements_work_is_lent(dsn: str) -> None:
    async with listening(dsn, tasks.prepare_claims) as heard:
        assert await heard.next_message() == "heard"
        conn = heard.listener.take()
        assert conn is not None
        assert heard.listener.take() is None
        assert heard.listener.release(conn)


async def test_a_server_that_hangs_before_it_listens_is_left(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listen, "_START_TIMEOUT", 0.5)
    began: list[Connection] = []

    async def hangs_once(conn: Connection) -> None:
        began.append(conn)
        monkeypatch.undo()
        if len(began) == 1:
            await conn.execute("select pg_sleep(3600)")

    async with listening(dsn, hangs_once) as heard:
        assert await heard.next_message() == "heard"
        assert len(began) == 2
