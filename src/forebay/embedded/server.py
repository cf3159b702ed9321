"""Controls one embedded server. Its data folder contains::

lock         held by the process that starts or stops the server
location     only if the data must be elsewhere: the path of that folder
cluster/     created by initdb (``cluster.new/`` until it is complete)
alive        locked by every process of the server, so that the kernel knows when the last one has ended
password     of the superuser, readable by the caller only
logins       passwords of the service's database accounts, readable by the caller only
port         chosen once, and again only if it is in use
server.log   the server's log; ``initdb.log``: the log of initdb
runtime-*/   a copy of the binaries, if the server's account cannot read the installed ones
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from forebay.embedded import system
from forebay.embedded.cluster import USER, check_version, find_binaries, make_cluster
from forebay.embedded.system import EmbeddedError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Generator, Iterable, Mapping

    from forebay.embedded.system import SystemAccount

DEFAULTS: Mapping[str, str] = {
    "autovacuum_naptime": "10s",
    "fsync": "on",
    "jit": "off",
    "lc_messages": "C",  # failures are recognized by their English text
    "log_line_prefix": "%m [%p] ",
    "log_timezone": "UTC",
    "max_connections": "100",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "shared_buffers": "256MB",
    "synchronous_commit": "on",
    "timezone": "UTC",
}

_STOP_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
_ELSEWHERE = Path("/var/lib/forebay")
_PORTS = range(20000, 32000)  # below the kernel's range of ephemeral ports
_START_MB = 50
_LOG_LIMIT = 16 * 2**20
_ORPHAN_GRACE = 3.0
_RETRY_FOR = 30.0
_POLL = 0.02

_Status = Literal["down", "starting", "ready", "stopping"]


class EmbeddedPostgres:
    """Controls one PostgreSQL server that belongs to one data folder.

    Raises:
        EmbeddedError: from every method, with a message for the user.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        bin_dir: Path | None = None,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
        progress: Callable[[str], None] | None = None,
        timeout: float = 300.0,
    ) -> None:
        self.data_dir = data_dir.absolute()
        self._bin_dir = bin_dir
        self._fixed_port = port
        self._settings = {**DEFAULTS, **(settings or {})}
        self._say = progress or _ignore_message
        self._timeout = timeout

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def home(self) -> Path:
        """The folder that contains the data: ``data_dir``, or the folder that ``location`` names."""
        pointer = self.data_dir / "location"
        return Path(pointer.read_text().strip()) if pointer.exists() else self.data_dir

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data directory."""
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        """The log file of the server."""
        return self.home / "server.log"

    @property
    def pid(self) -> int | None:
        """The process id of the running postmaster, or None."""
        pid, _ = self._pidfile()
        return pid if pid is not None and self._is_postmaster(pid) else None

    @property
    def dsn(self) -> str:
        """The address of the database; not available before the first start."""
        try:
            password = (self.home / "password").read_text()
            port = self._fixed_port or int((self.home / "port").read_text())
        except (OSError, ValueError) as error:
            raise EmbeddedError(f"{self.home} has no started database: start it first ({error})") from error
        return f"postgresql://{USER}:{password}@127.0.0.1:{port}/{USER}"

    @property
    def login_passwords(self) -> dict[str, str]:
        """The passwords of the service's accounts, by role; empty before the first `make_login_passwords`."""
        file = self.home / "logins"
        with system.as_embedded_errors(self.home):
            return dict(json.loads(file.read_text())) if file.exists() else {}

    def make_login_passwords(self, roles: Iterable[str]) -> dict[str, str]:
        """The same, with new passwords for roles that have none yet."""
        known = self.login_passwords
        wanted = {role: known.get(role) or secrets.token_urlsafe(24) for role in roles}
        if wanted != known:
            with system.as_embedded_errors(self.home):
                system.write_private(self.home / "logins", json.dumps(wanted, indent=2))
        return wanted

    def start(self) -> str:
        """Create the cluster if there is none, start the server unless it runs, and return the DSN."""
        with system.as_embedded_errors(self.data_dir):
            system.make_folder(self.data_dir)
            with self._locked():
                self._choose_home()
                if self._status() != "ready":
                    self._bring_up()
                return self.dsn

    def stop(self, mode: Literal["smart", "fast", "immediate"] = "fast") -> None:
        """Stop the server and wait until it has ended; does nothing if it does not run."""
        if not self.data_dir.exists():
            return
        with system.as_embedded_errors(self.data_dir), self._locked():
            self._signal(_STOP_SIGNALS[mode])

    def kill(self) -> None:
        """Kill the postmaster, as in a crash; its other processes detect this and end."""
        self._signal(signal.SIGKILL)

    # --- start --------------------------------------------------------------------------------------

    def _choose_home(self) -> None:
        """Keep the data in ``data_dir``, or elsewhere if the server's account cannot access it."""
        if self.home != self.data_dir or self.cluster.exists():
            return
        account = system.server_account(self.cluster)
        if account is None or account.reaches(self.data_dir):
            return
        home = _ELSEWHERE / f"{self.data_dir.parent.name}-{secrets.token_hex(4)}"
        system.make_folder(home)
        (self.data_dir / "location").write_text(f"{home}\n")
        self._say(f"{self.data_dir} is closed to the account {account.name}: the data is kept in {home}")

    def _bring_up(self) -> None:
        account = system.server_account(self.cluster)
        binaries = find_binaries(self.home, self._bin_dir, account, self._say)
        if not self.cluster.exists():
            self._say(f"Making a PostgreSQL database in {self.home}")
            with system.opened(self.home / "alive") as alive:
                fcntl.flock(alive, fcntl.LOCK_EX)
                make_cluster(self.home, binaries, account, alive)
        check_version(self.cluster, binaries)
        system.check_free_space(self.home, _START_MB)
        self._launch(binaries / "postgres", account)

    def _launch(self, postgres: Path, account: SystemAccount | None) -> None:
        """Start the server and wait until it responds, including until the remains of a crash have ended."""
        began = logged = time.monotonic()
        child: subprocess.Popen[bytes] | None = None
        said = 0
        while (status := self._status()) != "ready":
            waited = time.monotonic() - began
            if status == "down" and (child is None or child.poll() is not None):
                if child is not None:
                    self._check_failed_start(said, waited)
                said = self._rotate_log()
                child = self._spawn(postgres, account, waited)
            if waited > self._timeout:
                raise EmbeddedError(f"PostgreSQL was not ready after {waited:.0f} s.\n{system.tail(self.log)}")
            if time.monotonic() - logged > 2:
                logged = time.monotonic()
                self._say(f"Waiting for PostgreSQL ({waited:.0f} s), see {self.log}")
            time.sleep(_POLL)

    def _spawn(self, postgres: Path, account: SystemAccount | None, waited: float) -> subprocess.Popen[bytes] | None:
        """Start the postmaster, or return None while processes of a crashed one are still running."""
        with system.opened(self.home / "alive") as alive:
            if not system.try_lock(alive):
                self._end_orphans(waited)
                return None
            self._drop_stale_pidfile()
            options = [f"--{name}={value}" for name, value in self._server_settings().items()]
            return system.spawn([postgres, "-D", self.cluster, *options], self.log, account, keep=alive)

    def _server_settings(self) -> dict[str, str]:
        return self._settings | {
            "cluster_name": self._cluster_name,
            "listen_addresses": "127.0.0.1",
            "password_encryption": "scram-sha-256",
            "port": str(self._choose_port()),
            "unix_socket_directories": "",
        }

    def _choose_port(self) -> int:
        if self._fixed_port is not None:
            return self._fixed_port
        file = self.home / "port"
        if file.exists() and system.is_free(port := int(file.read_text())):
            return port
        for port in secrets.SystemRandom().sample(_PORTS, len(_PORTS)):
            if system.is_free(port):
                file.write_text(str(port))
                return port
        where = f"from {_PORTS.start} to {_PORTS.stop - 1}"
        raise EmbeddedError(f"No port {where} is free on 127.0.0.1: end a program that listens there.")

    def _check_failed_start(self, said: int, waited: float) -> None:
        """Decide from the log of a failed start whether another try can succeed; raise if not."""
        text = system.read_from(self.log, said)
        if "Address already in use" in text and self._fixed_port is None:
            (self.home / "port").unlink(missing_ok=True)
            return
        leftover = "pre-existing shared memory block" in text or '"postmaster.pid" already exists' in text
        if leftover and waited < _RETRY_FOR:
            time.sleep(min(1.0, 0.1 + waited / 4))
            return
        why = "The disk is full: free some space. " if "No space left on device" in text else ""
        raise EmbeddedError(f"PostgreSQL did not start. {why}The end of {self.log}:\n{system.last_lines(text)}")

    # --- processes ----------------------------------------------------------------------------------

    @property
    def _cluster_name(self) -> str:
        """A name that appears in the title of every process of this server and of no other."""
        return f"forebay-{hashlib.sha256(os.fsencode(self.home)).hexdigest()[:12]}"

    def _status(self) -> _Status:
        pid, lines = self._pidfile()
        if pid is None or not self._is_postmaster(pid):
            return "down"
        word = lines[7].strip() if len(lines) > 7 else "starting"
        if word == "ready":
            return "ready" if system.answers(int(lines[3])) else "starting"
        return "stopping" if word == "stopping" else "starting"

    def _pidfile(self) -> tuple[int | None, list[str]]:
        try:
            lines = (self.cluster / "postmaster.pid").read_text().splitlines()
            return int(lines[0]), lines
        except (FileNotFoundError, IndexError, ValueError):
            return None, []
        except PermissionError as error:
            raise EmbeddedError(f"{self.cluster} belongs to another account: use that one.") from error

    def _is_postmaster(self, pid: int) -> bool:
        if not system.exists(pid):
            return False
        words = system.cmdline(pid)
        return words is None or str(self.cluster) in words

    def _end_orphans(self, waited: float) -> None:
        """End processes that outlived a killed postmaster and are too busy to notice it."""
        if waited > _ORPHAN_GRACE:
            for pid in system.titled(f"postgres: {self._cluster_name}: "):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _drop_stale_pidfile(self) -> None:
        """Remove the file if its process id now belongs to an unrelated process, which PostgreSQL cannot detect.

        This is safe only because the caller holds ``alive``: no process of this server is left.
        """
        pid, _ = self._pidfile()
        if pid is not None and system.exists(pid) and not self._is_postmaster(pid):
            (self.cluster / "postmaster.pid").unlink()

    def _signal(self, number: signal.Signals) -> None:
        pid = self.pid
        if pid is None:
            return
        os.kill(pid, number)
        deadline = time.monotonic() + self._timeout
        while self._is_postmaster(pid):
            if time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL (process {pid}) did not stop.\n{system.tail(self.log)}")
            time.sleep(_POLL)

    # --- files --------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self) -> Generator[None]:
        with system.opened(self.data_dir / "lock") as handle:
            if not system.try_lock(handle):
                self._say("Waiting for another process that starts or stops this database")
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _rotate_log(self) -> int:
        """Rotate a large log; return the offset at which new log lines will begin."""
        size = self.log.stat().st_size if self.log.exists() else 0
        if size < _LOG_LIMIT:
            return size
        self.log.replace(self.log.with_suffix(".log.1"))
        return 0


def _ignore_message(_: str) -> None:
    return None
