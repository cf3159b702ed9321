"""The store in a folder: content is spooled there and then renamed."""

from __future__ import annotations

import asyncio
import errno
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.disk import flush
from forebay.storage.spool import make_private
from forebay.storage.store import ObjectInfo, Store

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.storage.store import Content

_SPOOL = ".spool"


class LocalStore(Store):
    """Objects as files. An existing object is complete, also after a power failure."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), self._open, folder / _SPOOL, keeps_types=False)
        self.folder = folder

    async def put(self, key: str, content: Content, media_type: str) -> None:
        async with self._translating_errors(key):
            made = await content.into_file()
            await asyncio.to_thread(_name, made, self.folder / key, self.spool)

    async def objects(self) -> AsyncGenerator[list[ObjectInfo]]:
        if self.folder.exists():
            async for page in super().objects():
                yield [found for found in page if not found.key.startswith(f"{_SPOOL}/")]

    async def sign(self, key: str, seconds: float) -> str | None:
        return None

    def path(self, key: str) -> Path | None:
        found = self.folder / key
        return found if found.is_file() else None

    def free_bytes(self) -> int | None:
        return shutil.disk_usage(nearest(self.folder)).free

    def _open(self) -> Any:
        from obstore.store import LocalStore as Inner  # noqa: PLC0415 - an extra

        make_private(self.folder)
        return Inner(self.folder, mkdir=True)


def nearest(folder: Path) -> Path:
    """The folder, or its nearest existing parent."""
    while not folder.exists():
        folder = folder.parent
    return folder


def _name(made: Path, target: Path, spool: Path) -> None:
    """Link a flushed file under another name, durably; the first name stays, because it may be needed again."""
    folder = target.parent
    is_new = not folder.exists()
    make_private(folder)
    make_private(spool)
    second = spool / f"put-{uuid.uuid4().hex}-named"
    try:
        _double(made, second)
        second.replace(target)
    finally:
        second.unlink(missing_ok=True)
    flush(folder)
    if is_new:
        flush(folder.parent)


def _double(made: Path, second: Path) -> None:
    try:
        second.hardlink_to(made)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}:
            raise
        shutil.copyfile(made, second)  # this file system has no links, or the file is on another one
        flush(second)
