"""What may stand between forebay and the nodes: HAProxy, and PgBouncer in front of it or alone, as ops/ has them."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Self

import pytest

from forebay.cli.api import listen
from forebay.db.addresses import Address, find_addresses
from tests.ha._node import OPS, PASSWORD, as_other_account, processes_in, start

if TYPE_CHECKING:
    import subprocess
    from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
    from pathlib import Path

    from tests.ha._cluster import Cluster


def program(name: str) -> str:
    """Skips the test without the program."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    return found


@contextmanager
def haproxy(cluster: Cluster, folder: Path) -> Generator[str]:
    """An address that leads to the primary."""
    port = _free_port()
    nodes = {f"FOREBAY_DB{number}": node.address for number, node in enumerate(cluster.nodes, 1)}
    command = [program("haproxy"), "-f", str(OPS / "haproxy" / "haproxy.cfg")]
    with _running(command, folder / "haproxy", {"FOREBAY_BIND": f"127.0.0.1:{port}", **nodes}):
        yield _dsn(port)


@contextmanager
def pgbouncer(server_dsn: str, folder: Path) -> Generator[str]:
    """A pooler in front of that address. Its file is included, and addresses are given after it."""
    (address,) = find_addresses(server_dsn)
    with _Pooler(folder / "pgbouncer").leading_to(address) as pooler:
        yield pooler.dsn


@asynccontextmanager
async def pgbouncer_alone(cluster: Cluster, folder: Path) -> AsyncGenerator[str]:
    """A pooler that connects to the primary itself. Its file is written again when another node is the primary, as by
    a callback of Patroni."""
    primary = await cluster.primary()
    with _Pooler(folder / "pgbouncer").leading_to(Address(primary.address, 5432)) as pooler:
        following = asyncio.create_task(_follow(cluster, pooler))
        try:
            yield pooler.dsn
        finally:
            following.cancel()
            await asyncio.wait([following])


async def _follow(cluster: Cluster, pooler: _Pooler) -> None:
    while True:
        await asyncio.sleep(0.2)
        primary = await cluster.primary()
        pooler.lead_to(Address(primary.address, 5432))


class _Pooler:
    """PgBouncer with the configuration of ops/pgbouncer."""

    def __init__(self, home: Path) -> None:
        self._home, self._port = home, _free_port()
        self._target: Address | None = None
        self._process: subprocess.Popen[bytes] | None = None
        home.mkdir()
        (home / "users.txt").write_text(f'"postgres" "{PASSWORD}"\n')

    @property
    def dsn(self) -> str:
        return _dsn(self._port)

    @contextmanager
    def leading_to(self, server: Address) -> Generator[Self]:
        self.lead_to(server)
        command = [program("pgbouncer"), "pgbouncer.ini"]
        with _running(as_other_account(command), self._home, {}) as self._process:
            yield self

    def lead_to(self, server: Address) -> None:
        """From now on, transactions are those of another server."""
        if server == self._target:
            return
        self._target = server
        (self._home / "pgbouncer.ini").write_text(
            f"%include {OPS / 'pgbouncer' / 'pgbouncer.ini'}\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {self._port}\nauth_file = users.txt\n"
            f"[databases]\nforebay = host={server.host} port={server.port} dbname=forebay\n"
        )
        if self._process is not None:
            self._process.send_signal(signal.SIGHUP)


@contextmanager
def _running(command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> Generator[subprocess.Popen[bytes]]:
    folder.mkdir(exist_ok=True)
    process = start(command, folder, "out.log", env)
    try:
        yield process
    finally:
        for each in processes_in(folder):
            each.kill()
        process.wait()
        print(f"-- {folder.name} said:\n{(folder / 'out.log').read_text()[-3000:]}")  # noqa: T201 - for a failure


def _free_port() -> int:
    with listen("127.0.0.1", 0) as listener:
        return int(listener.getsockname()[1])


def _dsn(port: int) -> str:
    return f"postgresql://postgres:{PASSWORD}@127.0.0.1:{port}/forebay?sslmode=disable"
