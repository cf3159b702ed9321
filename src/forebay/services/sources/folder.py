"""Files in a local folder, opened relative to descriptors, so that symbolic links are not followed."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from forebay.errors import ConfigError, DataError, ResourceError, StepError, TransientError, classify_error
from forebay.services.egress.errors import UrlNotFound
from forebay.services.sources.names import moved_name
from forebay.services.sources.source import CHUNK, Source, SourceFile, changed_meanwhile
from forebay.types import ErrorClass
from forebay.waits import finish_in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Iterator
    from pathlib import Path

    from forebay.services.sources.source import Scan
    from forebay.services.sources.source_spec import SourceSpec


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC  # do not block on a FIFO
_AT_ONCE = 500  # files per call of a thread


class FolderSource(Source):
    """`root` is configured by the operator and may be a link; links below it are not followed."""

    def __init__(self, declared: SourceSpec, root: Path, below: list[str], *, roots_setting: str) -> None:
        super().__init__(declared)
        self._root, self._below = root, below
        self._roots_setting = roots_setting

    async def _list_files(self, scan: Scan) -> AsyncGenerator[SourceFile, None]:
        with closing(self._walk(scan)) as walk:
            while True:
                batch, error = await finish_in_thread(_some_of, walk)
                for found in batch:
                    yield found
                if error is not None:
                    raise error
                if not batch:
                    return

    async def _read(self, path: str, version: str, offset: int) -> AsyncGenerator[bytes, None]:
        with ExitStack() as stack:
            file, size = await finish_in_thread(self._opened, stack, path, version, offset)
            while chunk := await finish_in_thread(self._piece, path, file):
                offset += len(chunk)
                self._check_growth(path, offset, size)
                yield chunk
            self._check_end(path, offset, size, changed=version_of(os.fstat(file)) != version)

    async def _done(self, path: str, version: str) -> bool:
        return await finish_in_thread(self._delete_or_move, path, version)

    # Run in a thread.

    def _walk(self, scan: Scan) -> Generator[SourceFile, None, None]:
        """Depth first, with at most one open folder per level."""
        with self._translating_errors(""), self._folder([]) as folder:
            yield from self._entries(scan, folder, "")

    def _entries(self, scan: Scan, folder: int, path: str) -> Iterator[SourceFile]:
        with os.scandir(folder) as entries:
            for entry in entries:
                met = scan.add_entry(path, entry.name)
                if met is None:
                    continue
                with suppress(FileNotFoundError):  # deleted meanwhile
                    yield from self._entry(scan, folder, entry, met)

    def _entry(self, scan: Scan, folder: int, entry: os.DirEntry[str], path: str) -> Iterator[SourceFile]:
        if entry.is_dir(follow_symlinks=False):
            if scan.enters_folder(path):
                yield from self._sub(scan, folder, entry.name, path)
        elif not entry.is_file(follow_symlinks=False):
            scan.skip(path, "is a symbolic link" if entry.is_symlink() else "is a device, pipe or socket")
        elif scan.wants_file(path):
            yield found_of(path, entry.stat(follow_symlinks=False))

    def _sub(self, scan: Scan, folder: int, name: str, path: str) -> Iterator[SourceFile]:
        try:
            sub = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            if error.errno == errno.ENOENT:
                raise
            scan.skip(path, f"cannot be opened: {os.strerror(error.errno or 0)}")
            return
        with _closing(sub):
            yield from self._entries(scan, sub, path)

    @contextmanager
    def _folder(self, parts: list[str], *, make: bool = False) -> Generator[int, None, None]:
        """Open a folder within the source, level by level from the root."""
        with ExitStack() as stack:
            here = stack.enter_context(_closing(self._open_root()))
            for depth, part in enumerate([*self._below, *parts]):
                if make and depth >= len(self._below):
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=here)
                here = stack.enter_context(_closing(os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=here)))
            yield here

    def _open_root(self) -> int:
        try:
            return os.open(self._root, _FOLDER)
        except (FileNotFoundError, NotADirectoryError):
            raise ConfigError(f"there is no folder {self._root}, which {self._roots_setting} names") from None

    def _opened(self, stack: ExitStack, path: str, version: str, offset: int) -> tuple[int, int]:
        *folders, name = path.split("/")
        with self._translating_errors(path), self._folder(folders) as folder:
            file = stack.enter_context(_closing(os.open(name, _FILE, dir_fd=folder)))
            now = os.fstat(file)
            if not stat.S_ISREG(now.st_mode):
                raise DataError(f"{path} is a device, pipe or socket, not a file")
            if version_of(now) != version:
                raise changed_meanwhile(path)
            os.lseek(file, offset, os.SEEK_SET)
        return file, now.st_size

    def _piece(self, path: str, file: int) -> bytes:
        with self._translating_errors(path):
            return os.read(file, CHUNK)

    def _delete_or_move(self, path: str, version: str) -> bool:
        *folders, name = path.split("/")
        with self._translating_errors(path), suppress(FileNotFoundError), self._folder(folders) as folder:
            now = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(now.st_mode) or version_of(now) != version:
                return False
            if self.declared.after == "delete":
                os.unlink(name, dir_fd=folder)
                return True
            *aims, aim = moved_name(f"{self.declared.move_to}/{path}", version).split("/")
            with self._folder(aims, make=True) as target:
                os.rename(name, aim, src_dir_fd=folder, dst_dir_fd=target)
        return True

    @contextmanager
    def _translating_errors(self, path: str) -> Generator[None, None, None]:
        """Translate errors, with the path."""
        where = f"{self.declared.url}{f'/{path}' if path else ''}"
        try:
            yield
        except OSError as error:
            raise _step_error(where, error, is_root=not path) from error


def _step_error(where: str, error: OSError, *, is_root: bool) -> StepError:
    why = os.strerror(error.errno or 0)
    if error.errno == errno.ENOENT:
        return ConfigError(f"{where} does not exist") if is_root else UrlNotFound(f"{where} does not exist")
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return ConfigError(f"{where} cannot be accessed: {why}; check its permissions")
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return DataError(f"{where} is a symbolic link, or behind one: links are not followed")
    if classify_error(error) is ErrorClass.RESOURCE:
        return ResourceError(f"{where} cannot be used: {why}")
    return TransientError(f"{where} cannot be used: {why}")


def _some_of(walk: Iterator[SourceFile]) -> tuple[list[SourceFile], Exception | None]:
    """Keep what was found before an error."""
    batch: list[SourceFile] = []
    try:
        for found in islice(walk, _AT_ONCE):
            batch.append(found)  # noqa: PERF402 - the list is kept when the walk fails
    except Exception as error:
        return batch, error
    return batch, None


@contextmanager
def _closing(descriptor: int) -> Generator[int, None, None]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def version_of(now: os.stat_result) -> str:
    """The version of a file, from its attributes."""
    return f"{now.st_mtime_ns}-{now.st_size}"


def found_of(path: str, now: os.stat_result) -> SourceFile:
    """The later of mtime and ctime, because copying may preserve an old mtime."""
    modified = datetime.fromtimestamp(max(now.st_mtime, now.st_ctime), UTC)
    return SourceFile(path, now.st_size, modified, version_of(now))
