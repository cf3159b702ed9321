"""Operating system functions for the embedded server: accounts, child processes, files and ports."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import pwd
import shutil
import socket
import stat
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from forebay.errors import ForebayError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_ACCOUNTS = ("forebay", "postgres", "nobody")
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)

# Kept, so that a server that outlives its object causes no warning and is reaped.
_children: list[subprocess.Popen[bytes]] = []


@atexit.register
def _disown_children() -> None:
    """A server outlives this process on purpose: `Popen` would warn that it is still running."""
    for child in _children:
        if child.poll() is None:
            child.returncode = 0


class EmbeddedError(ForebayError):
    """The embedded PostgreSQL could not be created, started or stopped."""


@contextlib.contextmanager
def as_embedded_errors(folder: Path) -> Generator[None]:
    """Convert an OSError into an EmbeddedError with instructions."""
    try:
        yield
    except PermissionError as error:
        hint = "it probably belongs to another account: use that one, or another folder"
        raise EmbeddedError(f"No permission for {error.filename or folder}: {hint}.") from error
    except OSError as error:
        what = f"Cannot use {error.filename or folder}: {error.strerror or error}"
        raise EmbeddedError(f"{what}; fix that, or use another folder.") from error


# --- accounts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SystemAccount:
    """The account that a server started by root runs under."""

    name: str
    uid: int
    gid: int

    def reaches(self, folder: Path) -> bool:
        """Whether the account can enter a folder."""
        return self._can(["/bin/sh", "-c", 'cd "$1"', "sh", folder])

    def runs(self, program: Path) -> bool:
        """Whether the account can run a program and load its libraries."""
        return self._can([program, "--version"])

    def _can(self, command: Sequence[str | Path]) -> bool:
        try:
            run(command, Path(os.devnull), self)
        except (EmbeddedError, PermissionError):
            return False
        return True


def server_account(cluster: Path) -> SystemAccount | None:
    """The account for the server; None is the caller. PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return None
    if cluster.exists():
        status = cluster.stat()
        return SystemAccount(f"number {status.st_uid}", status.st_uid, status.st_gid)
    for name in _ACCOUNTS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return SystemAccount(name, entry.pw_uid, entry.pw_gid)
    raise EmbeddedError(f"PostgreSQL never runs as root. Add one of the accounts {', '.join(_ACCOUNTS)}.")


# --- processes --------------------------------------------------------------------------------------


def spawn(
    command: Sequence[str | Path],
    log: Path,
    account: SystemAccount | None,
    *,
    keep: int | None = None,
    stdin: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a program under the account, with its output in the log, and the open file `keep`."""
    with opened_log(log) as output:
        child = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=output,  # never a pipe: a reader would wait as long as the server has it open
            stderr=subprocess.STDOUT,
            cwd="/",
            env=_environment(),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            pass_fds=() if keep is None else (keep,),
            start_new_session=True,  # Ctrl-C in the terminal must not reach the server
        )
    _children.append(child)
    return child


def run(
    command: Sequence[str | Path],
    log: Path,
    account: SystemAccount | None,
    *,
    given: bytes = b"",
    keep: int | None = None,
) -> None:
    """Run a program to its end; raise EmbeddedError with the end of the log if it fails."""
    with spawn(command, log, account, keep=keep, stdin=subprocess.PIPE) as child:
        child.communicate(given)
    if child.returncode != 0:
        raise EmbeddedError(f"{Path(command[0]).name} failed. The end of {log}:\n{tail(log)}")


def exists(pid: int) -> bool:
    """Whether there is a process with this id."""
    _children[:] = [child for child in _children if child.poll() is None]
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def cmdline(pid: int) -> list[str] | None:
    """The arguments of a process, empty for a dead one; None if the system does not provide them."""
    if not Path("/proc/self/cmdline").exists():
        return None
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="surrogateescape").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def titled(prefix: str) -> list[int]:
    """The processes whose title begins with this prefix."""
    pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if (cmdline(pid) or [""])[0].startswith(prefix)]


def _environment() -> dict[str, str]:
    """The caller's environment, without variables that would redirect the server or translate its messages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return kept | {"LC_ALL": "C"}


# --- files ------------------------------------------------------------------------------------------


def make_folder(folder: Path) -> None:
    """Create the folder and its missing parents; as root, make them accessible for other accounts."""
    if folder.exists():
        return
    make_folder(folder.parent)
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        folder.chmod(0o711 if os.geteuid() == 0 else 0o700)


def open_to_read(root: Path) -> None:
    """Let every account read and run what is in the folder."""
    root.chmod(0o755)
    for path in root.rglob("*"):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o055 if mode & 0o100 else 0o044))


def give(path: Path, account: SystemAccount | None) -> None:
    """Make the account the owner."""
    if account is not None:
        os.chown(path, account.uid, account.gid)


def write_private(path: Path, text: str) -> None:
    """Write a new file that only its owner can read."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)


def opened_log(log: Path) -> BinaryIO:
    """A file to append to, readable only by its owner, because it contains failed statements with their values."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        os.fchmod(handle, 0o600)  # created by an earlier release
    return os.fdopen(handle, "ab")


def check_free_space(folder: Path, megabytes: int) -> None:
    """Raise EmbeddedError if the disk has less free space."""
    free = shutil.disk_usage(folder).free // 2**20
    if free < megabytes:
        raise EmbeddedError(f"{folder} has {free} MB free and PostgreSQL needs {megabytes}: free some space.")


@contextlib.contextmanager
def opened(file: Path) -> Generator[int]:
    """Open a file to be locked; the lock ends when all processes that inherited it have closed it."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Lock an open file; return False if another process has locked it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_from(file: Path, offset: int) -> str:
    """The text of a file from an offset on."""
    with file.open("rb") as log:
        log.seek(offset)
        return log.read().decode(errors="replace")


def last_lines(text: str) -> str:
    """The end of a text, short enough for an error message."""
    return "\n".join(text.splitlines()[-15:])


def tail(log: Path) -> str:
    """The last lines of a log, or an empty string."""
    return last_lines(log.read_text(errors="replace")) if log.is_file() else ""


# --- ports ------------------------------------------------------------------------------------------


def answers(port: int) -> bool:
    """Whether a server process responds, not only whether the port is open."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(_SSL_REQUEST)
            return connection.recv(1) in (b"N", b"S")
    except OSError:
        return False


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
