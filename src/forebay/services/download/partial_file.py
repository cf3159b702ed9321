"""A partial file: received content, and the validator with which a later attempt can continue it.

Its journal (`.json`) has the proof (an ETag, a date or the version of a source), the total size if it is known, and
headers of the sender. Without a proof, the transfer starts again.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import json
import os
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.disk import resource_errors
from forebay.errors import ThrottledError
from forebay.waits import finish_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

_BLOCK = 1 << 20
_BUSY_S = 5.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Journal:
    """The journal of a partial file."""

    proof: str | None = None
    total: int | None = None
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    boot: str = ""


class PartialFile:
    """A file that one attempt at a time writes; opened by `open_partial`."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self.journal = Journal()
        self.size = 0
        self._fd = fd
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    @property
    def is_whole(self) -> bool:
        """Whether the content is known to be complete."""
        return self.journal.proof is not None and self.journal.total == self.size

    async def begin(self, proof: str | None, total: int | None, about: Mapping[str, str] | None = None) -> None:
        """Start again with other content."""
        await finish_in_thread(self._begin, Journal(proof, total, about or {}, _boot()))

    async def append(self, block: bytes | bytearray) -> None:
        """Raises: ResourceError when the disk is full."""
        await finish_in_thread(self._append, block)

    def discard(self) -> None:
        """Delete the file and its journal."""
        self.path.unlink(missing_ok=True)
        _journal_path(self.path).unlink(missing_ok=True)

    def _begin(self, journal: Journal) -> None:
        with resource_errors(self.path.parent):
            _journal_path(self.path).unlink(missing_ok=True)  # first: what is there no longer proves anything
            if os.fstat(self._fd).st_nlink > 1:
                self._replace_file()
            os.ftruncate(self._fd, 0)
            os.lseek(self._fd, 0, os.SEEK_SET)
            self.size, self.journal, self._hash = 0, journal, hashlib.sha256()
            _write_journal(self.path, journal)

    def _replace_file(self) -> None:
        """Create a new file at the path: after a killed adoption, the old one is already a blob of the store."""
        self.path.unlink(missing_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.dup2(fd, self._fd, inheritable=False)
        finally:
            os.close(fd)

    def _append(self, block: bytes | bytearray) -> None:
        with resource_errors(self.path.parent), memoryview(block) as left:
            rest = left
            while rest:
                written = os.write(self._fd, rest)
                self._hash.update(rest[:written])
                self.size += written
                rest = rest[written:]

    def load(self) -> None:
        """Continue the file of an earlier attempt, if its content is certain."""
        journal = _read_journal(self.path)
        size = os.fstat(self._fd).st_size
        # After a power failure a file may have its size but not its content: only files of this boot are continued.
        is_known = journal is not None and journal.proof is not None and journal.boot == _boot() != ""
        is_shared = os.fstat(self._fd).st_nlink > 1  # linked by a killed adoption: it may be read, but not written
        if (
            not is_known
            or journal is None
            or (journal.total is not None and size > journal.total)
            or (is_shared and size != journal.total)
        ):
            self._begin(Journal())
            return
        while block := os.read(self._fd, _BLOCK):
            self._hash.update(block)
            self.size += len(block)
        self.journal = journal


@asynccontextmanager
async def open_partial(path: Path) -> AsyncGenerator[PartialFile]:
    """Open the partial file at a path exclusively; it stays there afterwards unless it is discarded.

    Raises: ThrottledError while another attempt on this machine has it open.
    """
    fd = await _opened(path)
    try:
        partial = PartialFile(path, fd)
        await finish_in_thread(partial.load)
        yield partial
    finally:
        os.close(fd)


async def _opened(path: Path) -> int:
    opening = asyncio.ensure_future(asyncio.to_thread(_open_locked, path))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_unused)  # otherwise the lock would be held until this process ends
        raise


def _close_unused(opening: asyncio.Future[int]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        os.close(opening.result())


def _open_locked(path: Path) -> int:
    while True:
        with resource_errors(path.parent):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(fd, path):  # otherwise it was deleted or moved between the two calls
                return fd
        except BlockingIOError:
            os.close(fd)
            reason = "an earlier attempt is still writing the same partial file on this machine"
            raise ThrottledError(reason, retry_after=_BUSY_S, ours=True) from None
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _is_at(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def _journal_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _write_journal(path: Path, journal: Journal) -> None:
    made = path.with_name(f"{path.name}.json.new")
    made.write_text(json.dumps(asdict(journal)), "utf-8")
    made.replace(_journal_path(path))


def _read_journal(path: Path) -> Journal | None:
    """The journal; None when there is none, or it is invalid."""
    try:
        read: Any = json.loads(_journal_path(path).read_text("utf-8"))
        is_ours = isinstance(read["total"], int | None) and isinstance(read["about"], dict)
        return Journal(read["proof"], read["total"], read["about"], read["boot"]) if is_ours else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _boot() -> str:
    """The id of this boot of the machine; empty when unknown."""
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""
