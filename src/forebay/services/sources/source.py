"""The interface of sources: list files, read them from an offset, and delete or move them afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forebay.errors import DataError, TransientError
from forebay.services.sources.names import DEEPEST, LONGEST_PATH, checked_path, shown, why_bad_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from forebay.services.sources.source_spec import SourceSpec

CHUNK = 1 << 20  # bytes per read
_TOLD = 100  # skipped entries that a scan reports individually


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file; `path` and `version` identify its content, which is taken once."""

    path: str  # relative to the source, with /
    size: int
    modified: datetime
    version: str


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """An entry that a scan does not take."""

    name: str  # printable
    reason: str


class EntryLimitReached(Exception):
    """A scan has reached `max_entries`."""


@dataclass(slots=True)
class Scan:
    """The state of a scan, besides the files that it found."""

    declared: SourceSpec
    now: datetime
    seen: int = 0
    unsettled: int = 0  # files that may still be written; the next scan checks again
    left_out: list[SkippedEntry] = field(default_factory=list[SkippedEntry])  # the first ones
    left_out_count: int = 0
    is_whole: bool = True  # false: there were more than max_entries

    def add_entry(self, folder: str, name: str) -> str | None:
        """Count an entry of any type; returns its path, or None when it is skipped."""
        if self.seen >= self.declared.max_entries:
            raise EntryLimitReached
        self.seen += 1
        path = f"{folder}/{name}" if folder else name
        why = why_bad_name(name) or (
            f"has a path of more than {LONGEST_PATH} characters" if len(path) > LONGEST_PATH else None
        )
        if why:
            self.skip(path, why)
            return None
        return path

    def enters_folder(self, path: str) -> bool:
        """Whether a folder is scanned."""
        if not self.declared.recursive or path.rpartition("/")[2].startswith(".") or self.declared.is_moved(path):
            return False
        if path.count("/") + 1 > DEEPEST:
            self.skip(path, f"is nested more than {DEEPEST} folders deep")
            return False
        return True

    def wants_file(self, path: str) -> bool:
        """Whether a file matches the declaration."""
        return self.declared.takes(path)

    def skip(self, path: str, reason: str) -> None:
        self.left_out_count += 1
        if len(self.left_out) < _TOLD:
            self.left_out.append(SkippedEntry(shown(path), reason))

    def is_settled(self, found: SourceFile) -> bool:
        """Whether a file can be taken now: not too large, and probably complete."""
        if found.size > self.declared.max_bytes:
            self.skip(found.path, f"has {found.size} bytes; max_bytes is {self.declared.max_bytes}")
            return False
        if (self.now - found.modified).total_seconds() < self.declared.settle_s:
            self.unsettled += 1
            return False
        return True


class Source(ABC):
    """Open within the `async with` block of `open_source`."""

    def __init__(self, declared: SourceSpec, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.declared = declared
        self._clock = clock
        self.scan = Scan(declared, clock())  # the last or current scan

    async def list(self) -> AsyncGenerator[SourceFile, None]:
        """Iterate over the files that can be taken now; `scan` has the skipped entries.

        Raises: ConfigError, TransientError, Refused.
        """
        self.scan = scan = Scan(self.declared, self._clock())
        async with aclosing(self._list_files(scan)) as found:
            try:
                async for each in found:
                    if scan.is_settled(each):
                        yield each
            except EntryLimitReached:
                scan.is_whole = False
                scan.skip("", f"more than {self.declared.max_entries} entries: move some away, or raise max_entries")

    async def read(self, path: str, version: str, offset: int = 0) -> AsyncGenerator[bytes, None]:
        """Stream a file from `offset` on; after a disconnect, resume with the number of received bytes.

        Raises: DataError when it has changed, or is too large; UrlNotFound; TransientError when the transfer broke.
        """
        size = offset
        async with aclosing(self._read(self._checked(path), version, offset)) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if size > self.declared.max_bytes:
                    raise DataError(f"{path} has more bytes than max_bytes, {self.declared.max_bytes}")
                yield chunk

    async def done(self, path: str, version: str) -> bool:
        """Delete or move a taken file, as declared; false when it has changed meanwhile and stays.

        Raises: ConfigError, TransientError.
        """
        path = self._checked(path)
        return True if self.declared.after == "keep" else await self._done(path, version)

    def _checked(self, path: str) -> str:
        """Raises: DataError when the path does not match the declaration."""
        checked_path(path)
        if not self.declared.takes(path):
            raise DataError(f"{path} is not a file of source {self.declared.name}")
        return path

    def _check_growth(self, path: str, size: int, expected: int) -> None:
        """Reject a file that grows while it is read."""
        if size > expected:
            raise changed_meanwhile(path)

    def _check_end(self, path: str, size: int, expected: int, *, changed: bool) -> None:
        """Check size and version after the last byte."""
        if changed:
            raise changed_meanwhile(path)
        if size != expected:
            raise TransientError(f"{path} ended after {size} of {expected} bytes")

    @abstractmethod
    def _list_files(self, scan: Scan) -> AsyncGenerator[SourceFile, None]:
        """All files that match the declaration."""

    @abstractmethod
    def _read(self, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        """The bytes of this version."""

    @abstractmethod
    async def _done(self, path: str, version: str) -> bool:
        """Delete or move the file; true when it is gone."""

    async def close(self) -> None:
        """Close its connections."""
        return


def changed_meanwhile(path: str) -> DataError:
    """The error for a changed file, which the next scan finds."""
    return DataError(f"{path} has changed meanwhile; the next scan takes the new version")
