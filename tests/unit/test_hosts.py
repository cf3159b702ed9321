"""Which of the servers behind a connection string is the primary, as their connections tell it one after another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from forebay.db import hosts
from forebay.db.history import History
from forebay.db.hosts import _FormerPrimaryError, _Server, _Servers, _servers_of
from forebay.db.listen import Listener
from forebay.db.pool import connect, open_pool
from forebay.errors import DatabaseUnavailable
from tests.crash._rig import Proxy

if TYPE_CHECKING:
    from forebay.db.addresses import Address

FIRST, SECOND = History("1", 1), History("1", 2)
STANDBY = None


class Connections:
    """Connections to one address, and what came of them."""

    def __init__(self) -> None:
        self.servers = _Servers(())
        self.failovers = 0
        self.servers.on_failover.add(self._count)

    def add(self, history: History | None, address: Address | None = None) -> Connection:
        conn = Connection()
        self.servers._note_connected(conn, _Server(address, history))  # type: ignore[arg-type]
        return conn

    def answer(self, conn: Connection) -> None:
        self.servers.note_answer(conn)  # type: ignore[arg-type]

    def _count(self) -> None:
        self.failovers += 1


class Connection:
    """What is asked of one here."""

    is_open = True

    def terminate(self) -> None:
        self.is_open = False


class Clock:
    """The monotonic clock."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(hosts, "time", clock)
    return clock


async def _terminated() -> None:
    await asyncio.sleep(0)  # connections are closed by their event loop


async def test_a_standby_that_answers_before_its_promotion_hides_no_failover() -> None:
    found = Connections()
    old = found.add(FIRST)
    early = found.add(STANDBY)
    assert found.failovers == 0
    new = found.add(SECOND)
    await _terminated()
    assert found.failovers == 1
    assert (old.is_open, early.is_open, new.is_open) == (False, False, True)


async def test_a_standby_that_answers_does_not_close_the_connections_to_the_primary() -> None:
    found = Connections()
    old = found.add(FIRST)
    found.add(STANDBY)
    assert found.add(FIRST).is_open
    await _terminated()
    assert (found.failovers, old.is_open) == (0, True)


async def test_a_former_primary_is_rejected_while_the_present_one_answers(clock: Clock) -> None:
    found = Connections()
    present = found.add(SECOND)
    for _ in range(5):
        clock.now += 50
        found.answer(present)
    with pytest.raises(_FormerPrimaryError):
        found.add(FIRST)
    assert found.failovers == 0


@pytest.mark.parametrize("answers", ["nobody", "a standby"])
async def test_a_restored_backup_is_accepted_when_the_primary_answers_no_more(clock: Clock, answers: str) -> None:
    found = Connections()
    present = found.add(SECOND)
    standby = found.add(STANDBY)
    clock.now += 50
    if answers == "a standby":
        found.answer(standby)
        found.add(STANDBY)
    clock.now += 50
    found.add(FIRST)
    await _terminated()
    assert (found.failovers, present.is_open) == (1, False)


async def test_the_use_of_a_pool_tells_that_the_primary_answers(dsn: str) -> None:
    async with await open_pool(dsn, size=1, name="tests") as pool:
        await pool.fetchval("select 1")
        servers = _servers_of(dsn)
        servers._seen = 0.0
        await pool.fetchval("select 1")
        assert servers._seen > 0


async def test_a_pooler_tells_nothing_about_the_primary(dsn: str) -> None:
    """In transaction mode, another server may answer on the same connection."""
    async with await open_pool(dsn, size=1, name="tests", prepared=False) as pool:
        await pool.fetchval("select 1")
        servers = _servers_of(dsn)
        servers._seen = 0.0
        await pool.fetchval("select 1")
        assert servers._seen == 0


async def test_an_idle_listener_tells_that_the_primary_answers(dsn: str) -> None:
    connected = asyncio.Event()
    listening = asyncio.create_task(Listener(dsn, print, connected.set, check_every=0.1).run())
    try:
        async with asyncio.timeout(60):
            await connected.wait()
            servers = _servers_of(dsn)
            servers._seen = 0.0
            while not servers._seen:  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.01)
    finally:
        listening.cancel()
        await asyncio.wait([listening])


async def test_a_primary_that_hangs_right_after_authentication_is_given_up(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BEGIN has no timeout of its own, and nobody knows the connection yet."""
    monkeypatch.setattr(hosts, "_HISTORY_TIMEOUT", 0.2)
    async with Proxy(dsn) as proxy, asyncio.timeout(60):
        proxy.lose_at_query("BEGIN")
        with pytest.raises(DatabaseUnavailable):
            await connect(proxy.dsn)
        monkeypatch.undo()
        (await connect(proxy.dsn)).terminate()
