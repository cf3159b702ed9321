"""Two real servers, of which one follows the other, and what can happen to the first."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import asyncpg

from forebay.embedded import EmbeddedPostgres, system
from tests._servers import discard
from tests.crash._rig import Proxy, Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forebay.embedded.server import _Status


class Standby(EmbeddedPostgres):
    """A server that follows another one. It is ready when it can be read."""

    def _status(self) -> _Status:
        _, lines = self._pidfile()
        found = super()._status()
        return "ready" if found == "starting" and len(lines) > 7 and lines[7].strip() == "standby" else found


_SETTINGS = {"shared_buffers": "32MB", "max_connections": "200"}  # the copied cluster was made with as many


class Pair:
    """A primary, and a standby that has every transaction before its client learns that it is committed."""

    def __init__(self, folder: Path, copy_cluster: Callable[[Path], None]) -> None:
        places = folder / "first", folder / "second"
        for place in places:
            copy_cluster(place)
        self.first = EmbeddedPostgres(places[0], settings=_SETTINGS)
        self._second_place = places[1]

    async def __aenter__(self) -> Self:
        primary = urlsplit(self.first.start())
        self._replication = await Proxy(self.first.dsn).__aenter__()
        port = urlsplit(self._replication.dsn).port
        follows = f"host=127.0.0.1 port={port} user={primary.username} password={primary.password}"
        self.second = Standby(self._second_place, settings=_SETTINGS | {"primary_conninfo": follows})
        (self.second.cluster / "standby.signal").touch()
        await asyncio.to_thread(self.second.start)  # it connects through this event loop
        await self._ask(self.first, "alter system set synchronous_standby_names = '*'")
        await self._ask(self.first, "select pg_reload_conf()")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.thaw()
        await self._replication.__aexit__()
        for server in (self.first, self.second):
            discard(server)

    @property
    def dsn(self) -> str:
        """Both addresses, that of the present standby first."""
        first, second = urlsplit(self.first.dsn), urlsplit(self.second.dsn)
        user = first.netloc.rpartition("@")[0]
        return first._replace(netloc=f"{user}@127.0.0.1:{second.port},127.0.0.1:{first.port}").geturl()

    def freeze(self) -> None:
        """The first server hangs: it accepts connections and never answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    async def promote(self) -> None:
        """What Patroni and others do when they have given the first one up."""
        await self._ask(self.second, "select pg_promote()")

    async def disconnect(self) -> None:
        """From now on, commits wait for nobody, and the standby gets nothing any more."""
        await self._ask(self.first, "alter system reset synchronous_standby_names")
        await self._ask(self.first, "select pg_reload_conf()")
        self._replication.cut(refuse_new=True)
        async with Watch(self.first.dsn) as watch:
            await watch.until("the standby is gone", "select not exists (select from pg_stat_replication)")

    def _signal(self, number: signal.Signals) -> None:
        postmaster = self.first.pid
        children = system.titled(f"postgres: {self.first._cluster_name}: ")  # pyright: ignore[reportPrivateUsage]
        for pid in (*([postmaster] if postmaster else []), *children):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    @staticmethod
    async def _ask(server: EmbeddedPostgres, statement: str) -> None:
        conn = await asyncpg.connect(server.dsn)
        try:
            await conn.execute(statement)
        finally:
            await conn.close()
