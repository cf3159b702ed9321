"""A source of files, whatever it is: found, read from where one stopped, and put away."""

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

CHUNK = 1 << 20  # bytes of a read at a time
_TOLD = 100  # entries of a scan that are left out and told of, one by one


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file; the same `path` and `version` is the same content, which is taken once."""

    path: str  # within the source, with / between its parts
    size: int
    modified: datetime
    version: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that a scan has met and does not take."""

    name: str  # for people to read
    reason: str


class Enough(Exception):
    """A scan has seen as many entries as it may."""


@dataclass(slots=True)
class Scan:
    """What one look through a source has met, besides the files that it found."""

    declared: SourceSpec
    now: datetime
    seen: int = 0
    unsettled: int = 0  # files that may still be written; the next scan looks again
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])  # the first of them
    left_out_count: int = 0
    is_whole: bool = True  # false: there was more than max_entries

    def meet(self, folder: str, name: str) -> str | None:
        """The path of an entry, whatever it is; None when it is left out."""
        if self.seen >= self.declared.max_entries:
            raise Enough
        self.seen += 1
        path = f"{folder}/{name}" if folder else name
        why = why_bad_name(name) or (
            f"has a path of more than {LONGEST_PATH} characters" if len(path) > LONGEST_PATH else None
        )
        if why:
            self.skip(path, why)
            return None
        return path

    def enters(self, path: str) -> bool:
        """Whether a folder is looked into."""
        if not self.declared.recursive or path.rpartition("/")[2].startswith(".") or self.declared.is_moved(path):
            return False
        if path.count("/") + 1 > DEEPEST:
            self.skip(path, f"lies more than {DEEPEST} folders deep")
            return False
        return True

    def wants(self, path: str) -> bool:
        """Whether a file is looked at."""
        return self.declared.takes(path)

    def skip(self, path: str, reason: str) -> None:
        self.left_out_count += 1
        if len(self.left_out) < _TOLD:
            self.left_out.append(LeftOut(shown(path), reason))

    def settles(self, found: SourceFile) -> bool:
        """Whether a file is to be taken now: whole, as far as can be told, and not too large."""
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
        self.scan = Scan(declared, clock())  # the last look, or the one that goes on

    async def list(self) -> AsyncGenerator[SourceFile, None]:
        """The files that may be taken now, as they are met; `scan` tells what was left out.

        Raises: ConfigError, TransientError, Refused.
        """
        self.scan = scan = Scan(self.declared, self._clock())
        async with aclosing(self._list_files(scan)) as found:
            try:
                async for each in found:
                    if scan.settles(each):
                        yield each
            except Enough:
                scan.is_whole = False
                scan.skip("", f"more than {self.declared.max_entries} entries: move some away, or raise max_entries")

    async def read(self, path: str, version: str, offset: int = 0) -> AsyncGenerator[bytes, None]:
        """The bytes of a file from `offset` on; whoever was cut off comes again with what he has as the offset.

        Raises: DataError when it has changed, or is too large; UrlNotFound; TransientError when it was cut off.
        """
        size = offset
        async with aclosing(self._read(self._checked(path), version, offset)) as chunks:
            async for chunk in chunks:
                size += len(chunk)
                if size > self.declared.max_bytes:
                    raise DataError(f"{path} has more bytes than max_bytes, {self.declared.max_bytes}")
                yield chunk

    async def done(self, path: str, version: str) -> bool:
        """Deletes or moves a file that was taken, as declared; false when it has changed since, and stays.

        Raises: ConfigError, TransientError.
        """
        path = self._checked(path)
        return True if self.declared.after == "keep" else await self._done(path, version)

    def _checked(self, path: str) -> str:
        """Raises: DataError when it is not the path of a file that this source has."""
        checked_path(path)
        if not self.declared.takes(path):
            raise DataError(f"{path} is not among the files of source {self.declared.name}")
        return path

    def _check_room(self, path: str, size: int, expected: int) -> None:
        """A file that grows as fast as it is read would never end."""
        if size > expected:
            raise changed_meanwhile(path)

    def _check_end(self, path: str, size: int, expected: int, *, changed: bool) -> None:
        """What can only be told when all bytes are there."""
        if changed:
            raise changed_meanwhile(path)
        if size != expected:
            raise TransientError(f"{path} ended after {size} of {expected} bytes")

    @abstractmethod
    def _list_files(self, scan: Scan) -> AsyncGenerator[SourceFile, None]:
        """Every file that the scan wants."""

    @abstractmethod
    def _read(self, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        """The bytes of this version, to the last."""

    @abstractmethod
    async def _done(self, path: str, version: str) -> bool:
        """Deletes or moves; true when it is not there any more."""

    async def close(self) -> None:
        """Ends its connections."""
        return


def changed_meanwhile(path: str) -> DataError:
    """For a file whose version is another one now: the next scan finds it."""
    return DataError(f"{path} has changed meanwhile; the next scan takes it as it is then")
