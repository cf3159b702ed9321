"""Untrusted ZIP archives: checked before anything is unpacked, and unpacked within limits."""

from __future__ import annotations

import errno
import stat
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from forebay.errors import DataError
from forebay.services.images import MAX_BYTES as MAX_IMAGE_BYTES

_SMALL = 32 << 20  # bytes below which the ratio of an entry does not matter
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_NESTED = (".zip", ".rar", ".7z", ".gz", ".tgz", ".tar", ".xz", ".bz2")
_HIDDEN = ("__MACOSX/", "Thumbs.db", ".DS_Store")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class Bounds(NamedTuple):
    """The limits of an archive."""

    entries: int = 10_000
    entry_bytes: int = 4 << 30
    all_bytes: int = 8 << 30
    ratio: int = 200


WORKBOOK = Bounds(entries=5_000)
PICTURES = Bounds(entries=50_000, all_bytes=32 << 30)  # a single image that is too large is refused by `read_picture`


@contextmanager
def opened(source: IO[bytes], bounds: Bounds) -> Generator[zipfile.ZipFile]:
    """Open an archive whose declared entries are within the limits; `pieces` checks their contents.

    Raises: DataError with the reason.
    """
    with translating_errors():
        _check_count(source, bounds)
        source.seek(0)
        archive = zipfile.ZipFile(source)
    with archive:
        _check(archive.infolist(), bounds)
        yield archive


@contextmanager
def translating_errors() -> Generator[None]:
    try:
        yield
    except DataError:
        raise
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # an error of the disk, not of the archive
            raise
        raise DataError(f"the archive is truncated or damaged: {str(error)[:200]}") from error


def pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, size: int = 1 << 16) -> Iterator[bytes]:
    """Read an entry, at most its declared size.

    Raises: DataError when it is damaged.
    """
    with translating_errors(), archive.open(entry) as opened_entry:
        while piece := opened_entry.read(size):
            yield piece


_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_TAIL = (1 << 16) + 22 + 20 + 56  # the longest comment and its records
_ENTRY_BYTES = 512  # average bytes of a directory entry: real archives have short names


def _check_count(source: IO[bytes], bounds: Bounds) -> None:
    """Opening an archive parses its whole directory, which takes time and memory: too many entries, or a directory that
    is too large for them, are refused before, by the end record of the archive."""
    size = source.seek(0, 2)
    source.seek(max(0, size - _TAIL))
    tail = source.read()
    # Found as zipfile does: at the very end, else the last one before a comment.
    place = len(tail) - 22 if tail[-22:].startswith(_END) and tail.endswith(b"\0\0") else tail.rfind(_END)
    if place < 0:
        raise DataError("this is not a ZIP archive, or its end is missing")
    count, directory = _number(tail, place + 10, 2), _number(tail, place + 12, 4)
    if tail[max(0, place - 20) :].startswith(_LOCATOR_64):  # if present, zipfile uses it
        count, directory = _counts_64(source, size, _number(tail, place - 12, 8))
    if count > bounds.entries:
        raise DataError(f"the archive has {count} entries; {bounds.entries} are allowed")
    most = max(count * _ENTRY_BYTES, 1 << 16)
    if directory > most:
        raise DataError(f"the archive's directory has {directory} bytes; {most} are allowed for {count} entries")


def _counts_64(source: IO[bytes], size: int, place: int) -> tuple[int, int]:
    """The entries and the bytes of a directory of ZIP64."""
    source.seek(min(place, size))
    record = source.read(56)
    if not record.startswith(_END_64):
        raise DataError("the archive is truncated or damaged: the end of its directory is missing")
    return _number(record, 32, 8), _number(record, 40, 8)


def _number(data: bytes, place: int, size: int) -> int:
    return int.from_bytes(data[place : place + size], "little")


def _check(entries: list[zipfile.ZipInfo], bounds: Bounds) -> None:
    if len(entries) > bounds.entries:
        raise DataError(f"the archive has {len(entries)} entries; {bounds.entries} are allowed")
    total = 0
    names: set[str] = set()
    for entry in entries:
        _check_entry(entry, bounds)
        total += entry.file_size
        if entry.filename in names:
            raise DataError(f"the archive has two entries of the same name: {entry.filename[:100]!r}")
        names.add(entry.filename)
    if total > bounds.all_bytes:
        raise DataError(f"the archive unpacks to {total} bytes; {bounds.all_bytes} are allowed")
    _check_overlap(entries)


def _check_entry(entry: zipfile.ZipInfo, bounds: Bounds) -> None:
    name = entry.filename[:100]
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in "".join(path.parts[:1]) or "\0" in entry.filename:
        raise DataError(f"the archive has an entry with a path outside of it: {name!r}")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise DataError(f"the archive has a link: {name!r}")
    if entry.flag_bits & 0x1:
        raise DataError(f"the archive is encrypted ({name!r}): save it without a password")
    if entry.compress_type not in _METHODS:
        raise DataError(f"{name!r} has an unsupported compression method: use deflate")
    if entry.file_size > bounds.entry_bytes:
        raise DataError(f"{name!r} unpacks to {entry.file_size} bytes; {bounds.entry_bytes} are allowed")
    if entry.file_size > _SMALL and entry.file_size > entry.compress_size * bounds.ratio:
        packed = f"from {entry.compress_size} to {entry.file_size} bytes"
        raise DataError(f"{name!r} grows {packed} when unpacked: more than {bounds.ratio} times is a bomb")


def _check_overlap(entries: list[zipfile.ZipInfo]) -> None:
    """Overlapping entries are a known bomb: each must end before the next begins."""
    end = 0
    for entry in sorted(entries, key=lambda one: one.header_offset):
        if entry.header_offset < end:
            raise DataError(f"entries of the archive overlap: {entry.filename[:100]!r}")
        end = entry.header_offset + 30 + entry.compress_size


# Images.


class ArchivePicture(NamedTuple):
    """An image in an archive: its position, name, and compressed and uncompressed size."""

    number: int
    name: str
    size: int


def pictures(archive: zipfile.ZipFile) -> list[ArchivePicture]:
    """The files of an archive that was opened with the limits for images, in order.

    Raises: DataError for a nested archive.
    """
    found: list[ArchivePicture] = []
    for entry in archive.infolist():
        if entry.is_dir() or entry.filename.startswith(_HIDDEN) or entry.filename.endswith(_HIDDEN):
            continue
        if entry.filename.lower().endswith(_NESTED):
            raise DataError(f"nested archives are not supported: {entry.filename[:100]!r}")
        found.append(ArchivePicture(len(found) + 1, entry.filename, entry.file_size))
    return found


def read_picture(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of an image.

    Raises: DataError when it is damaged, missing, too large, or an archive.
    """
    try:
        entry = archive.getinfo(name)
    except KeyError as error:
        raise DataError(f"the archive has no {name[:100]!r}") from error
    if entry.file_size > MAX_IMAGE_BYTES:
        raise DataError(f"{name[:100]!r} has {entry.file_size} bytes; {MAX_IMAGE_BYTES} are allowed")
    data = b"".join(pieces(archive, entry))
    if data.startswith(b"PK\x03\x04"):
        raise DataError(f"nested archives are not supported: {name[:100]!r}")
    return data
