"""What may stand between forebay and the nodes: HAProxy, and PgBouncer in front of it, as ops/ configures them."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from forebay.cli.api import listen
from tests.ha._node import OPS, PASSWORD, as_other_account, processes_in, start

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
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
    port, home = _free_port(), folder / "pgbouncer"
    command = [program("pgbouncer"), "pgbouncer.ini"]
    home.mkdir()
    (home / "users.txt").write_text(f'"postgres" "{PASSWORD}"\n')
    server_port = server_dsn.rpartition(":")[2].partition("/")[0]
    (home / "pgbouncer.ini").write_text(
        f"%include {OPS / 'pgbouncer' / 'pgbouncer.ini'}\n"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nauth_file = users.txt\n"
        f"[databases]\nforebay = host=127.0.0.1 port={server_port} dbname=forebay\n"
    )
    with _running(as_other_account(command), home, {}):
        yield _dsn(port)


@contextmanager
def _running(command: Sequence[str | Path], folder: Path, env: Mapping[str, str]) -> Generator[None]:
    folder.mkdir(exist_ok=True)
    process = start(command, folder, "out.log", env)
    try:
        yield
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
