"""Real NATS servers."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import nats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BINARY = Path(sys.executable).parent / "nats-server"


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class NatsCluster:
    """Some NATS servers with JetStream that know each other."""

    def __init__(self, folder: Path, nodes: int, *, more: str = "") -> None:
        """`more`: lines of their configuration."""
        self.folder = folder
        self._more = more
        self.nodes = nodes
        ports = free_ports(2 * nodes)
        self.ports, self._routes = ports[:nodes], ports[nodes:]
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        return "nats://" + ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def start(self, nodes: Sequence[int] | None = None) -> None:
        for node in range(self.nodes) if nodes is None else nodes:
            self.folder.mkdir(parents=True, exist_ok=True)
            config = self.folder / f"{node}.conf"
            config.write_text(self._config(node))
            log = (self.folder / f"{node}.log").open("ab")
            self._running[node] = subprocess.Popen([_BINARY, "-c", config], stdout=log, stderr=log)
            log.close()

    def _config(self, node: int) -> str:
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self._routes)
        listen = f"127.0.0.1:{self._routes[node]}"
        cluster = f"cluster {{ name: tests, listen: {listen}, routes: [{routes}] }}" if self.nodes > 1 else ""
        store = f'store_dir: "{self.folder}/store-{node}", max_mem: 256M, max_file: 1G'
        lines = [f"server_name: n{node}", f"listen: 127.0.0.1:{self.ports[node]}", f"jetstream {{ {store} }}"]
        return "\n".join([*lines, cluster, self._more, ""])

    async def wait_until_ready(self) -> None:
        async with asyncio.timeout(60):
            while True:
                try:
                    client = await nats.connect(self.url.split(","), connect_timeout=1, allow_reconnect=False)
                    try:
                        await client.jetstream(timeout=1).account_info()
                        return
                    finally:
                        await client.close()
                except Exception:
                    await asyncio.sleep(0.05)

    def kill(self, nodes: Sequence[int] | None = None) -> None:
        """kill -9."""
        for node in list(self._running) if nodes is None else nodes:
            process = self._running.pop(node)
            process.kill()
            process.wait()

    def forget(self) -> None:
        """Remove everything that the servers have stored."""
        for node in range(self.nodes):
            shutil.rmtree(self.folder / f"store-{node}", ignore_errors=True)


@contextmanager
def nats_server(folder: Path) -> Iterator[str]:
    """The address of a server that runs during the block."""
    server = NatsCluster(folder, 1)
    server.start()
    try:
        asyncio.run(server.wait_until_ready())
        yield server.url
    finally:
        server.kill()
