"""A real PgBouncer in transaction mode, in front of the server of the tests.

With `--pooler`, forebay reaches its database through it. The asyncpg connections of the tests themselves do not use it:
they observe.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import psycopg
import pytest

from forebay import Client, SyncClient
from forebay.cli.api import listen
from forebay.db.pool import open_pool
from forebay.engine.submit.stream import submit_stream

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
# What a worker, a client and the API must be told behind it.
SETTINGS = {"FOREBAY_PREPARED_STATEMENTS": "false", "FOREBAY_LISTEN": "false"}

# What programs must pass there; the tests leave it to the default.
_TOLD: tuple[tuple[Any, str], ...] = (
    (open_pool, "prepared"),
    (Client.connect, "prepared_statements"),
    (SyncClient.connect, "prepared_statements"),
    (submit_stream, "prepared_statements"),
)


def _defaults(function: Any) -> dict[str, Any]:
    """The defaults of its keywords."""
    function = getattr(function, "__func__", function)
    defaults: dict[str, Any] = getattr(function, "__wrapped__", function).__kwdefaults__
    return defaults


def through(dsn: str, port: int) -> str:
    """The same database, reached by another port."""
    parts = urlsplit(dsn)
    return parts._replace(netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}").geturl()


@contextmanager
def pgbouncer(dsn: str, folder: Path, size: int = 2) -> Iterator[str]:
    """A pooler in transaction mode, with so many connections to each database for everyone."""
    assert PGBOUNCER is not None
    there = urlsplit(dsn)
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
    folder.chmod(0o755)
    (folder / "users.txt").write_text(f'"{there.username}" "{there.password}"\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={there.hostname} port={there.port}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = plain\n"
        f"auth_file = {folder}/users.txt\npool_mode = transaction\ndefault_pool_size = {size}\nmax_client_conn = 1000\n"
    )
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    with subprocess.Popen([PGBOUNCER, "-q", *user, str(folder / "pgbouncer.ini")]) as process:
        try:
            yield through(dsn, port)
        finally:
            process.terminate()


def wait_until_it_answers(dsn: str) -> None:
    """Raises: psycopg.OperationalError if it does not within 20 seconds."""
    deadline = time.monotonic() + 20
    while True:
        try:
            psycopg.connect(dsn, prepare_threshold=None).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@contextmanager
def forebay_behind(pooler: str, server: str) -> Iterator[None]:
    """Let the programs of forebay connect as they must behind this pooler, and the tests connect to the server."""
    direct = urlsplit(server).port
    assert direct is not None
    place = urlsplit(pooler).netloc

    def past(dsn: Any) -> Any:
        if isinstance(dsn, str) and urlsplit(dsn).netloc.rpartition("@")[2] == place.rpartition("@")[2]:
            return through(dsn, direct)
        return dsn

    connect: Callable[..., Any] = asyncpg.connect

    def observe(dsn: Any = None, **options: Any) -> Any:
        return connect(dsn if "connection_class" in options else past(dsn), **options)

    def unprepared(connect: Callable[..., Any]) -> Callable[..., Any]:
        return lambda dsn="", **options: connect(dsn, **{"prepare_threshold": None} | options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg, "connect", unprepared(psycopg.connect))
        connect_async = staticmethod(unprepared(psycopg.AsyncConnection[Any].connect))
        patch.setattr(psycopg.AsyncConnection, "connect", connect_async)
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        for function, name in _TOLD:
            patch.setitem(_defaults(function), name, False)
        patch.setattr(asyncpg, "connect", observe)
        yield
