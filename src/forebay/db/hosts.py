"""Connections to the primary, also after another server has become it.

A connection string may have several addresses. The driver would wait for the first one as long as for all of them
together, and a server that hangs accepts connections and never answers. Here each address gets its own share of the
time, the last good one first, and a probe notices a primary that hangs while nobody connects.

Each new connection asks for the history of its server. A new history means that another server has become the primary,
also behind one address that leads to it. The connections to the one before are then closed: statements that wait there
would wait until their timeout, although the work could go on. A primary that was replaced is not used if it comes back.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import asyncpg

from forebay.db.addresses import find_addresses, wanted_server
from forebay.db.history import read_history
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.db.addresses import Address
    from forebay.db.history import History

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]

log = get_logger("database")

_PROBE_EVERY = 2.0
_PROBE_TIMEOUT = 2.0
_HISTORY_TIMEOUT = 5.0
_TRUSTED_FOR = 60.0  # seconds without the present primary after which an older history is accepted: a restored backup
_FAILED = (OSError, asyncio.TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class _FormerPrimaryError(OSError):
    """The server accepts writes, but another one has taken over."""


class _Server(NamedTuple):
    """What is known about the server of a connection."""

    address: Address | None  # None: the only one
    history: History | None

    def continued(self, before: _Server | None) -> _Server:
        """With the history that was known of its address, if it tells none: it is perhaps a standby that will have the
        next one."""
        if self.history is not None or before is None or self.address != before.address:
            return self
        return self._replace(history=before.history)

    def is_same(self, other: _Server) -> bool:
        if self.history is not None and other.history is not None:
            return self.history == other.history
        return self.address == other.address

    def is_surely(self, other: _Server) -> bool:
        """Whether it is the same also if one of them is a standby, whose history is not known."""
        return self.history == other.history and self.is_same(other)


class _Servers:
    """The servers of one database: which of them was the primary last, and the open connections to it.

    While there are connections to one of several addresses, one more is used to ask the primary regularly whether it
    still answers.
    """

    def __init__(self, addresses: tuple[Address, ...]) -> None:
        self.addresses = addresses
        self.on_failover: set[Callable[[], None]] = set()
        self._lock = threading.Lock()  # a worker's heartbeat runs on a thread of its own
        self._primary: _Server | None = None
        self._seen = 0.0  # when the primary was last connected to or answered, monotonic
        self._open: weakref.WeakKeyDictionary[Connection, tuple[_Server, asyncio.AbstractEventLoop]]
        self._open = weakref.WeakKeyDictionary()
        self._probing: asyncio.AbstractEventLoop | None = None
        self._probe_task: asyncio.Task[None] | None = None

    async def connect(self, dsn: str, timeout: float, options: dict[str, Any]) -> Connection:
        """Raises: what the driver raises, for the last address."""
        if len(self.addresses) < 2:
            return await self._accepted(await asyncpg.connect(dsn, timeout=timeout, **options), None)
        failure: BaseException | None = None
        last = self._primary.address if self._primary else None
        for address in sorted(self.addresses, key=lambda address: address != last):
            share = timeout / len(self.addresses)
            try:
                conn: Connection = await asyncpg.connect(
                    dsn, host=address.host, port=address.port, timeout=share, **options
                )
                return await self._accepted(conn, address)
            except _FAILED as error:
                failure = error
        assert failure is not None  # noqa: S101 - there are addresses
        raise failure

    async def _accepted(self, conn: Connection, address: Address | None) -> Connection:
        """The connection, if it leads to the primary."""
        try:
            self._note_connected(conn, _Server(address, await read_history(conn, _HISTORY_TIMEOUT)))
        except BaseException:
            conn.terminate()
            raise
        return conn

    def _note_connected(self, conn: Connection, server: _Server) -> None:
        """If the primary has changed, close the connections to the old one.

        Raises: _FormerPrimaryError if the server is an old one.
        """
        with self._lock:
            before, now = self._primary, time.monotonic()
            is_former = before and server.history and server.history.is_before(before.history)
            if is_former and now - self._seen < _TRUSTED_FOR:
                raise _FormerPrimaryError(f"{server.address or 'the server'} was the primary before another one")
            self._primary = server.continued(before)
            if self._primary == server:
                self._seen = now
            self._open[conn] = server, asyncio.get_running_loop()
            _servers_by_conn[conn] = self
            if before is None or before.is_same(self._primary):
                return
            stale = [(each, loop) for each, (its, loop) in self._open.items() if not its.is_surely(server)]
        log.warning("database_failed_over", **_described(before, server), closed=len(stale))
        for tell in tuple(self.on_failover):
            tell()
        for each, loop in stale:
            if not loop.is_closed():
                loop.call_soon_threadsafe(each.terminate)

    def note_answer(self, conn: Connection) -> None:
        """Record that this connection was answered: if it leads to the primary, that is still there."""
        with self._lock:
            entry = self._open.get(conn)
            if entry is not None and self._primary is not None and entry[0].is_surely(self._primary):
                self._seen = time.monotonic()

    # -- probing --------------------------------------------------------------------------------------------------

    def start_probing(self, dsn: str, options: dict[str, Any]) -> None:
        """Ask the primary regularly from now on, unless another event loop of this process does."""
        with self._lock:
            if self._probing is not None and not self._probing.is_closed():
                return
            self._probing = asyncio.get_running_loop()
        self._probe_later(_Probe(self, dsn, options))

    def _probe_later(self, probe: _Probe) -> None:
        """A timer, because a program that ends its event loop would be warned about a waiting task."""
        assert self._probing is not None  # noqa: S101 - set before
        self._probing.call_later(_PROBE_EVERY, self._begin_probe, probe)

    def _begin_probe(self, probe: _Probe) -> None:
        with self._lock:
            is_needed = any(not conn.is_closed() and conn is not probe.conn for conn in self._open)
            if not is_needed:
                self._probing = None
        if not is_needed:
            probe.close()
            return
        self._probe_task = asyncio.create_task(probe.run(), name="probe primary")
        self._probe_task.add_done_callback(lambda _: self._probe_later(probe))


class _Probe:
    """Asks the primary whether it answers; if not, connects again, perhaps to another server."""

    def __init__(self, servers: _Servers, dsn: str, options: dict[str, Any]) -> None:
        self._servers, self._dsn, self._options = servers, dsn, options
        self.conn: Connection | None = None

    async def run(self) -> None:
        try:
            if self.conn is None or self.conn.is_closed():
                self.conn = await self._servers.connect(self._dsn, 3 * _PROBE_TIMEOUT, self._options)
            await self.conn.fetchval("select 1", timeout=_PROBE_TIMEOUT)
            self._servers.note_answer(self.conn)
        except _FAILED as error:
            log.warning("database_probe_failed", error=one_line(error))
            self.close()

    def close(self) -> None:
        if self.conn is not None:
            self.conn.terminate()
            self.conn = None


def _described(before: _Server, now: _Server) -> dict[str, str]:
    """The addresses if there are several, and the histories if they are known."""
    names = ("before", "now")
    found = {name: str(server.address) for name, server in zip(names, (before, now), strict=True) if server.address}
    if before.history and now.history:
        found |= {"history_before": str(before.history), "history_now": str(now.history)}
    return found


_all: dict[tuple[tuple[Address, ...], str], _Servers] = {}
_servers_by_conn: weakref.WeakKeyDictionary[Connection, _Servers] = weakref.WeakKeyDictionary()


def _servers_of(dsn: str) -> _Servers:
    """Those of one database: a pooler may lead to a different cluster for each of its databases.

    Raises: ValueError for an invalid address.
    """
    addresses = find_addresses(dsn)
    return _all.setdefault((addresses, urlsplit(dsn).path), _Servers(addresses))


def watch_failover(dsn: str, tell: Callable[[], None]) -> Callable[[], None]:
    """Call `tell`, on any thread, whenever another server turns out to be the primary; return what ends this."""
    servers = _servers_of(dsn)
    servers.on_failover.add(tell)
    return lambda: servers.on_failover.discard(tell)


def note_answer(conn: Connection) -> None:
    """Record that the server has answered on this connection, which has a session of its own: while the primary does,
    a former one is not used.

    A pooler in transaction mode answers for one server now, and perhaps for another one later.
    """
    servers = _servers_by_conn.get(conn)
    if servers is not None:
        servers.note_answer(conn)


async def connect_to_primary(dsn: str, *, timeout: float = 60, **options: Any) -> Connection:
    """Connect to the server that accepts writes; if there are several addresses, each gets its share of `timeout`.

    Raises: what the driver raises, for the last address.
    """
    servers = _servers_of(dsn)
    target = wanted_server(dsn)
    conn = await servers.connect(dsn, timeout, options | target)
    if len(servers.addresses) > 1:
        kept = {"connection_class": options["connection_class"]} if "connection_class" in options else {}
        servers.start_probing(dsn, {**target, **kept, "server_settings": {"application_name": "forebay probe"}})
    return conn
