"""A private, durable PostgreSQL for one run, and fresh databases on it.

`BENCH_PG_BIN` names the folder of other PostgreSQL binaries to run. `BENCH_DSN` names a running server to use
instead: one of this machine, entered as superuser, with nothing else on it.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import psutil

if TYPE_CHECKING:
    from forebay.embedded import EmbeddedPostgres

SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "2GB",
    "effective_cache_size": "8GB",
    "work_mem": "32MB",
    "maintenance_work_mem": "256MB",
    "min_wal_size": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "random_page_cost": "1.1",
    "autovacuum_naptime": "10s",
    "max_connections": "800",
}
DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


class NotDurableError(Exception):
    """The server may lose commits, so its rates would mean nothing."""


@dataclass
class Server:
    dsn: str
    postmaster: psutil.Process | None
    version: str
    embedded: "EmbeddedPostgres | None" = None

    async def fresh(self, name: str, template: str | None = None) -> str:
        """Drop the database if it is there, create it again, and give its address."""
        like = f' template "{template}"' if template else ""
        await self._run(
            f'drop database if exists "{name}" with (force)', f'create database "{name}"{like}', "checkpoint"
        )
        return self.database(name)

    async def drop(self, name: str) -> None:
        await self._run(f'drop database if exists "{name}" with (force)')

    def database(self, name: str) -> str:
        return urlunsplit(urlsplit(self.dsn)._replace(path=f"/{name}"))

    def stop(self) -> None:
        if self.embedded:
            self.embedded.stop()

    async def _run(self, *statements: str) -> None:
        conn = await asyncpg.connect(self.dsn)
        try:
            for statement in statements:
                await conn.execute(statement)
        finally:
            await conn.close()


async def start(folder: Path) -> Server:
    """Start the server (or use the one of BENCH_DSN) and refuse one that is not durable."""
    dsn, embedded = os.environ.get("BENCH_DSN"), None
    if not dsn:
        from forebay.embedded import EmbeddedPostgres  # noqa: PLC0415 - the extra is not needed with BENCH_DSN

        embedded = EmbeddedPostgres(folder / "pg", bin_dir=_binaries(), settings=SETTINGS)
        dsn = embedded.start()
    conn = await asyncpg.connect(dsn)
    try:
        await _refuse_unless_durable(conn)
        version = await conn.fetchval("show server_version")
        postmaster = _parent(await conn.fetchval("select pg_backend_pid()"))
    finally:
        await conn.close()
    return Server(dsn, postmaster, version.split()[0], embedded)


def work_folder() -> Path:
    """A folder that PostgreSQL's own account may enter; `BENCH_DIR` says on which disk."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=os.environ.get("BENCH_DIR")))
    folder.chmod(0o755)
    return folder


def _binaries() -> Path | None:
    named = os.environ.get("BENCH_PG_BIN")
    return Path(named) if named else None


async def _refuse_unless_durable(conn: asyncpg.Connection) -> None:
    for setting in DURABLE:
        if await conn.fetchval("select current_setting($1)", setting) != "on":
            raise NotDurableError(f"{setting} must be on")


def _parent(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid).parent()
    except psutil.NoSuchProcess:
        return None
