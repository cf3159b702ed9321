"""`forebay backup` and `forebay restore`: the database and the stored files as one file."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import click

from forebay.cli import _archive
from forebay.cli import _show as show
from forebay.cli._common import find_dsn, load_own_settings, place_of, run
from forebay.cli._restore_script import failed, run_script
from forebay.cli._server import locked_data_dir
from forebay.db import migrate, restoring
from forebay.db.pool import as_forebay_errors, connected
from forebay.embedded import EmbeddedPostgres, find_program
from forebay.engine.db import checks, overview
from forebay.errors import ForebayError, InvalidField
from forebay.packages import outside_views

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from types import FrameType

    from forebay.db.pool import Connection
    from forebay.settings import Settings
    from forebay.storage.archive import Copied

_TIMEOUT_SINCE = 17  # the first PostgreSQL with a setting that its pg_restore sends to every server
_OF_SERVICE = "account"  # a table that the engine alone does not have
_OF_VECTORS = "search_chunk"  # a table that only a server with the extension vector can have
_WHERE = "The backup does not include stored files: copy {blobs} afterwards."


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--no-files", is_flag=True, help="Write the database only, as pg_dump does.")
def backup(file: Path, *, no_files: bool) -> None:
    """Write the database and all stored files to one file.

    Work can continue meanwhile: the backup is a consistent snapshot. It has the data of all users, so only you can read
    it. Settings and unfinished uploads are not included.
    """
    settings = load_own_settings()
    dsn = find_dsn(settings)
    has_files = run(_check(dsn)) and not no_files
    copied: Copied | None = None
    with _part_of(file, "part") as (dump, content):
        options = ["--format=custom", "--schema=forebay"]
        _run_program("pg_dump", dsn, options, newest=settings.dsn is not None, output=content)
        if has_files:
            with _part_of(file, "archive.part") as (archive, target):
                copied = run(_archive.write(target, content, dsn, settings))
                archive.replace(file)
        else:
            dump.replace(file)
    _tell(file, place_of(dsn), copied, settings)


def _tell(file: Path, place: str, copied: Copied | None, settings: Settings) -> None:
    size = show.size(file.stat().st_size)
    if copied is None:
        click.echo(f"{file}: {size} of {place}")
        click.echo(_WHERE.format(blobs=settings.storage_url or settings.data_dir / "blobs"), err=True)
        return
    click.echo(f"{file}: {size} of {place}, with {_contents(copied)}")
    if copied.missing:
        lost = show.plural(len(copied.missing), "content")
        click.echo(f"{lost} missing in the store: `forebay storage check` names the files", err=True)


def _contents(copied: Copied) -> str:
    return f"{show.plural(copied.blobs, 'stored content')} ({show.size(copied.bytes)})"


@contextmanager
def _part_of(file: Path, suffix: str) -> Generator[tuple[Path, IO[bytes]]]:
    """A new file beside `file`, deleted at the end unless it has replaced `file`."""
    part = file.with_name(f"{file.name}.{suffix}")
    try:
        part.unlink(missing_ok=True)
        # Exclusive: never write to a file or link that someone else creates meanwhile.
        opened = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w+b")
    except OSError as error:
        raise InvalidField(str(file), f"cannot be written: {error.strerror}") from error
    try:
        with opened:
            yield part, opened
    finally:
        part.unlink(missing_ok=True)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the contents of the database: all jobs, users and files.")
def restore(file: Path, *, replace: bool) -> None:
    """Read a backup: the database and its files.

    Stop `forebay up`, workers and the API first. If the database has jobs or users, --replace is required. The schema
    is migrated afterwards, so that backups of older versions can be restored.
    """
    settings = load_own_settings()
    with ExitStack() as running:
        dsn = settings.dsn or _started(settings, running)
        newest = settings.dsn is not None
        dump, members = running.enter_context(_archive.opened(file, settings))
        run(_prepare(dsn, partial(_has_table, dump, newest=newest), replace=replace))
        # The contents first: without the database they are only unused, but the database needs them.
        copied = run(_archive.take_files(file, members, settings)) if members else None
        applied = _read_in(dsn, dump, newest=newest)
        after = f", {show.plural(applied, 'migration')} applied" if applied else ""
        after += f", with {_contents(copied)}" if copied else ""
        click.echo(f"{place_of(dsn)}: restored from {file}{after}")


def _read_in(dsn: str, file: Path, *, newest: bool) -> int:
    """Replace the schema by that of the backup; return the number of migrations applied afterwards.

    If it is interrupted, the old schema is put back, unless the new one is complete. After a SIGKILL the old schema
    stays renamed; the next migration puts it back.
    """
    offered = outside_views()
    with _handled(signal.default_int_handler, signal.SIGTERM, signal.SIGHUP):
        try:
            run(_swap(dsn, partial(restoring.put_aside, offered=offered)))
            _restore(dsn, file, newest=newest)
            applied = run(_brought_up_to_date(dsn))
            run(_swap(dsn, partial(restoring.drop_aside, offered=offered)))
        except BaseException:
            # A second Ctrl-C must not interrupt this.
            with _handled(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                run(_swap(dsn, restoring.put_back))
            raise
    return applied


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None] | signal.Handlers, *numbers: int) -> Generator[None]:
    """Handle signals with this handler, except ignored ones, as with nohup."""
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: known for number, known in before.items() if known != signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


async def _brought_up_to_date(dsn: str) -> int:
    async with as_forebay_errors():
        return await migrate.migrate(dsn, restoring=True)


def _started(settings: Settings, running: ExitStack) -> str:
    """Run the embedded server meanwhile; no other process may be running it."""
    running.enter_context(locked_data_dir(settings.data_dir))
    server = EmbeddedPostgres(settings.data_dir)
    dsn = server.start()
    running.callback(server.stop)
    return dsn


async def _check(dsn: str) -> bool:
    """Whether the database has files; the engine alone has none."""
    async with connected(dsn, "forebay backup") as conn:
        await migrate.check(conn, await migrate.parts_in(conn))
        return await migrate.has_service(conn)


def _has_table(file: Path, name: str, *, newest: bool) -> bool:
    """Whether a backup has this table."""
    listing = subprocess.run(
        [_find("pg_restore", newest=newest), "--list", str(file)], capture_output=True, check=False
    )
    return f" TABLE forebay {name} ".encode() in listing.stdout


async def _prepare(dsn: str, has_table: Callable[[str], bool], *, replace: bool) -> None:
    """Create by a migration the roles and extensions that the backup needs; no data is replaced by mistake."""
    async with as_forebay_errors():
        await migrate.migrate(dsn)
        async with connected(dsn, "forebay restore") as conn:
            needs_service = not await migrate.has_service(conn) and has_table(_OF_SERVICE)
        if needs_service:
            await migrate.migrate(dsn, service=True)
    async with connected(dsn, "forebay restore") as conn:
        alive = [worker.name for worker in await overview.workers(conn) if worker.alive]
        if alive:
            raise ForebayError(f"{', '.join(alive)} is running: stop all workers first")
        if not replace and await overview.has_data(conn):
            raise ForebayError(f"{place_of(dsn)} has jobs or users: --replace deletes them and restores the backup")
        if not (await checks.extensions(conn, ["vector"])).get("vector") and has_table(_OF_VECTORS):
            raise ForebayError(
                f"the backup has vectors of the search, and {place_of(dsn)} does not have the extension vector: "
                "install pgvector on the server, or restore to a server that has it"
            )


async def _swap(dsn: str, change: Callable[[Connection], Awaitable[None]]) -> None:
    async with connected(dsn, "forebay restore") as conn:
        await change(conn)


def _restore(dsn: str, file: Path, *, newest: bool) -> None:
    """Restore the backup in one transaction."""
    program = _find("pg_restore", newest=newest)
    if run(_server_version(dsn)) >= _TIMEOUT_SINCE or _version(program) < (_TIMEOUT_SINCE,):
        options = ["--no-owner", "--single-transaction", "--exit-on-error", str(file)]
        _run_program("pg_restore", dsn, options, newest=newest)
        return
    place, environment = _access(dsn)
    psql = [_find("psql", newest=newest), "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
    script = [program, "--no-owner", "--file=-", str(file)]
    run_script(script, [*psql, "--no-password", f"--dbname={place}"], environment)


async def _server_version(dsn: str) -> int:
    async with connected(dsn, "forebay restore") as conn:
        return conn.get_server_version().major


def _run_program(name: str, dsn: str, options: list[str], *, newest: bool, output: IO[bytes] | None = None) -> None:
    """Run a client program of PostgreSQL."""
    place, environment = _access(dsn)
    command = [_find(name, newest=newest), "--no-password", f"--dbname={place}", *options]
    done = subprocess.run(
        command, env=environment, stdout=output or subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    if done.returncode != 0:
        raise failed(name, done.stderr)


def _access(dsn: str) -> tuple[str, dict[str, str]]:
    """The address without its password, and the environment with it, which others cannot read."""
    place, password = _split_password(dsn)
    return place, os.environ | ({"PGPASSWORD": password} if password else {})


def _find(name: str, *, newest: bool) -> str:
    """The path of a client program: the packaged one, which fits the embedded server, or a newer one on the PATH.

    Client programs of PostgreSQL reject servers and files that are newer than they are.
    """
    found = [str(program) for program in (find_program(name), shutil.which(name)) if program is not None]
    if not found:
        hint = "pip install 'forebay[embedded]', or install PostgreSQL's client programs"
        raise ForebayError(f"{name} is not installed: {hint}")
    return max(found, key=_version) if newest and len(found) > 1 else found[0]


def _version(program: str) -> tuple[int, ...]:
    """The version from output such as `pg_dump (PostgreSQL) 17.2`; empty when the program does not run."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace", check=False).stdout
    numbers = re.search(r"\) (\d+)(?:\.(\d+))?", said)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else ()


def _split_password(dsn: str) -> tuple[str, str]:
    """The address without its password, and the password.

    Raises: InvalidField for a password that could only be passed on the command line, where others can read it.
    """
    parts = urlsplit(dsn)
    user, _, place = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    asked = [pair.partition("=") for pair in parts.query.split("&") if pair]
    if any(unquote(key) == "sslpassword" for key, _, _ in asked):
        raise InvalidField(
            "FOREBAY_DATABASE_URL",
            "has sslpassword, which others could read while PostgreSQL's programs run: use a key without a password",
        )
    passwords = [password, *(value for key, _, value in asked if unquote(key) == "password")]
    query = "&".join("".join(pair) for pair in asked if unquote(pair[0]) != "password")
    # urlunsplit would drop the slashes of an address without a host.
    address = f"{parts.scheme}://{name}{'@' if name else ''}{place}{parts.path}{'?' if query else ''}{query}"
    return address, unquote(next(filter(None, passwords), ""))
