"""Connection strings with several addresses, of which one is that of the primary.

The driver would wait for the first address as long as for all of them together, and a server that hangs accepts
connections and never answers. Here each address gets its own share of the time, the last good one first. When another
server answers as the primary, the connections to the one before are closed: statements that wait there would wait
until their timeout, although the work could go on. A probe notices a primary that hangs while nobody connects.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

from forebay.db.addresses import find_addresses, wanted_server
from forebay.errors import one_line
from forebay.log import get_logger

if TYPE_CHECKING:
    from forebay.db.addresses import Address

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]

log = get_logger("database")

_PROBE_EVERY = 2.0
_PROBE_TIMEOUT = 2.0
_FAILED = (OSError, asyncio.TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


class _Servers:
    """The servers of one list of addresses: which of them was the primary last, and the open connections to it.

    While there are connections, one more is used to ask the primary regularly whether it still answers.
    """

    def __init__(self, addresses: tuple[Address, ...]) -> None:
        self._addresses = addresses
        self._lock = threading.Lock()  # a worker's heartbeat runs on a thread of its own
        self._primary: Address | None = None
        self._open: weakref.WeakKeyDictionary[Connection, tuple[Address, asyncio.AbstractEventLoop]]
        self._open = weakref.WeakKeyDictionary()
        self._probing: asyncio.AbstractEventLoop | None = None
        self._probe_task: asyncio.Task[None] | None = None

    async def connect(self, dsn: str, timeout: float, options: dict[str, Any]) -> Connection:
        """Raises: what the driver raises, for the last address."""
        failure: BaseException | None = None
        for address in sorted(self._addresses, key=lambda address: address != self._primary):
            share = timeout / len(self._addresses)
            try:
                conn: Connection = await asyncpg.connect(
                    dsn, host=address.host, port=address.port, timeout=share, **options
                )
            except _FAILED as error:
                failure = error
            else:
                self._note_connected(conn, address)
                return conn
        assert failure is not None  # noqa: S101 - there are addresses
        raise failure

    def _note_connected(self, conn: Connection, address: Address) -> None:
        """If the primary has changed, close the connections to the old one."""
        with self._lock:
            before, self._primary = self._primary, address
            self._open[conn] = address, asyncio.get_running_loop()
            stale = [(each, loop) for each, (place, loop) in self._open.items() if place != address]
        if before is not None and before != address:
            log.warning("database_failed_over", before=str(before), now=str(address), closed=len(stale))
        for each, loop in stale:
            if not loop.is_closed():
                loop.call_soon_threadsafe(each.terminate)

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
        except _FAILED as error:
            log.warning("database_probe_failed", error=one_line(error))
            self.close()

    def close(self) -> None:
        if self.conn is not None:
            self.conn.terminate()
            self.conn = None


_servers: dict[tuple[Address, ...], _Servers] = {}


async def connect_to_primary(dsn: str, *, timeout: float = 60, **options: Any) -> Connection:
    """Connect to the server that accepts writes, if there are several addresses; each gets its share of `timeout`.

    Raises: what the driver raises, for the last address.
    """
    addresses = find_addresses(dsn)
    if len(addresses) < 2:
        return await asyncpg.connect(dsn, timeout=timeout, **options)
    target = wanted_server(dsn)
    servers = _servers.setdefault(addresses, _Servers(addresses))
    conn = await servers.connect(dsn, timeout, options | target)
    kept = {"connection_class": options["connection_class"]} if "connection_class" in options else {}
    servers.start_probing(dsn, {**target, **kept, "server_settings": {"application_name": "forebay probe"}})
    return conn
