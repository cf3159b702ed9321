"""The PostgreSQL servers of a test run: one shared by all workers, and private ones to be killed.

Every server lives under one run folder. A janitor process holds the reading end of a pipe from the
process that started the run; when that ends, however it ends, the janitor stops the servers and
removes the folder. So nothing is left behind after Ctrl-C or ``kill -9`` either.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg

from forebay.embedded import EmbeddedPostgres
from forebay.identity.logins import SETTINGS, make_logins

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import TypeAlias

    Prepare: TypeAlias = Callable[[str], Coroutine[None, None, object]]

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
# The programs of another PostgreSQL, such as 14, that the tests are to use instead of the embedded one.
OTHER = Path(os.environ["FOREBAY_TEST_POSTGRES"]) if "FOREBAY_TEST_POSTGRES" in os.environ else None

# Losing data in a power cut is no concern of ordinary tests; deterministic plans and speed are.
_FAST = {
    "autovacuum": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "synchronous_commit": "off",
}
# A client hashes its password thousands of times for each connection, and tests make many. Only PostgreSQL 16 and newer
# can be told to be content with less.
_QUICK_LOGIN = {"scram_iterations": "1"}
# The accounts of the service belong to the server: all tests have the same.
PASSWORDS = dict.fromkeys(SETTINGS, "not a secret")
_ROOM = 8 << 30


def shared_folder(run_folder: Path) -> Path:
    """Where the servers are that need not survive anything."""
    return run_folder / "shared"


def _new_folder(parent: Path | None = None) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="forebay-tests-", dir=parent))
    folder.chmod(0o711)  # a server started by root runs under another account
    return folder


def _memory() -> Path | None:
    """A file system in memory, if there is one with room: a database of a thousand files is made there in a tenth."""
    found = Path("/dev/shm")
    if not found.is_dir() or os.statvfs(found).f_flag & os.ST_NOEXEC or shutil.disk_usage(found).free < _ROOM:
        return None
    return found


class Run:
    """The folder of a test run and the janitor that clears it."""

    def __init__(self) -> None:
        self.folder = _new_folder()
        shared_folder(self.folder).symlink_to(_new_folder(_memory()))
        self._janitor = subprocess.Popen(
            [sys.executable, __file__, self.folder], stdin=subprocess.PIPE, start_new_session=True
        )

    def end(self) -> None:
        """Let the janitor work, and wait for it."""
        self._janitor.communicate()


@dataclass
class Server:
    """A running server from which tests get databases of their own."""

    embedded: EmbeddedPostgres
    worker: str
    _admin: psycopg.Connection[tuple[object, ...]]
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    @contextlib.contextmanager
    def shared(cls, folder: Path, worker: str, bin_dir: Path | None = None) -> Iterator[Server]:
        """Lend the run's server in that folder, started by whichever worker comes first."""
        settings = _FAST | (_QUICK_LOGIN if bin_dir is None else {})
        embedded = EmbeddedPostgres(folder.resolve(), bin_dir=bin_dir, settings=settings)
        with psycopg.connect(embedded.start(), autocommit=True) as admin:
            yield cls(embedded, worker, admin)

    @contextlib.contextmanager
    def database(self, *, template: str | None = None) -> Iterator[str]:
        """Lend a fresh database, copied from the template if one is named."""
        name = f"test_{self.worker}_{next(self._numbers)}"
        # In memory a copy of the files takes less than half of what writing every page through the log takes,
        # the checkpoints included. 14 knows nothing else.
        how = "STRATEGY file_copy" if self._admin.info.server_version >= 150000 else ""
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template or 'template0'} {how}")
        try:
            yield self._dsn(name)
        finally:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def migrated_template(self, migrate: Prepare) -> str:
        """Return the name of a database with the current schema, made once per run."""

        async def prepare(dsn: str) -> None:
            # Hashed anew, with as few rounds as the settings say. Two workers must not do it at once.
            self._execute(f"ALTER ROLE CURRENT_USER PASSWORD '{urlsplit(self.embedded.dsn).password}'")
            await migrate(dsn)
            await make_logins(dsn, PASSWORDS)

        return self.template("forebay_template", prepare)

    def template(self, name: str, prepare: Prepare, *, base: str = "template1") -> str:
        """Return the name of a template that is copied from `base` and prepared once per run."""
        with _only_one_worker(self.embedded.data_dir):
            if not self._execute("SELECT 1 FROM pg_database WHERE datname = %s AND datistemplate", name):
                self._execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
                self._execute(f"CREATE DATABASE {name} TEMPLATE {base}")
                run_apart(prepare(self._dsn(name)))
                self._execute(f"ALTER DATABASE {name} IS_TEMPLATE true ALLOW_CONNECTIONS false")
        return name

    def _execute(self, statement: str, *values: str) -> bool:
        """Run one statement as the superuser and tell whether it returned rows."""
        cursor = self._admin.execute(statement.encode(), values or None)
        return cursor.description is not None and cursor.fetchone() is not None

    def _dsn(self, database: str) -> str:
        return f"{self.embedded.dsn.rpartition('/')[0]}/{database}"


@contextlib.contextmanager
def _only_one_worker(folder: Path) -> Iterator[None]:
    with (folder / "template.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def copy_cluster(run_folder: Path, folder: Path, migrate: Prepare) -> None:
    """Make the folder of a stopped server with the current schema, as a copy of one that is made once per run.

    initdb and the migrations take seconds of CPU.
    """
    template = shared_folder(run_folder).resolve() / "template"
    for each in (template, folder):
        each.mkdir(exist_ok=True)
        each.chmod(0o711)
    with _only_one_worker(template):
        if not (template / "made").exists():
            with EmbeddedPostgres(template, settings=_FAST) as embedded:
                run_apart(migrate(embedded.dsn))
            (template / "made").touch()
    subprocess.run(["cp", "-a", template / "cluster", template / "password", folder], check=True)


def run_apart(work: Coroutine[None, None, object]) -> None:
    """Run a coroutine in a thread, so that the event loop of the calling test stays untouched."""
    failures: list[BaseException] = []

    def target() -> None:
        try:
            asyncio.run(work)
        except BaseException as error:  # handed to the caller
            failures.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def discard(embedded: EmbeddedPostgres) -> None:
    """Stop a server and remove all that it stored."""
    embedded.stop("immediate")
    shutil.rmtree(embedded.home, ignore_errors=True)
    shutil.rmtree(embedded.data_dir, ignore_errors=True)


def _janitor(run_folder: Path) -> None:
    sys.stdin.read()  # returns when the run has ended
    shared = shared_folder(run_folder).resolve()
    own = (folder for folder in run_folder.iterdir() if not folder.is_symlink())
    for folder in (*own, *shared.iterdir()):
        discard(EmbeddedPostgres(folder))
    shutil.rmtree(shared, ignore_errors=True)
    shutil.rmtree(run_folder, ignore_errors=True)


if __name__ == "__main__":
    _janitor(Path(sys.argv[1]))
