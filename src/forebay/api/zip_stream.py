"""A ZIP archive that is sent while it is made: nothing of it is kept, in memory or on the disk."""

from __future__ import annotations

import asyncio
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from datetime import datetime

_ENOUGH = 64 << 10  # bytes that are sent at a time


class ZipStream:
    """Members are added one after another; each call returns the bytes to send."""

    def __init__(self) -> None:
        self._written = _Written()
        self._archive = zipfile.ZipFile(self._written, "w")

    async def add(
        self, name: str, content: AsyncIterator[bytes], at: datetime, *, compress: bool
    ) -> AsyncGenerator[bytes]:
        """Add a file, whose size need not be known."""
        about = zipfile.ZipInfo(name, at.timetuple()[:6])
        about.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        about.external_attr = 0o600 << 16
        with self._archive.open(about, "w", force_zip64=True) as member:
            async for chunk in content:
                await asyncio.to_thread(member.write, chunk)
                if self._written.size >= _ENOUGH:
                    yield self._written.take()
        yield self._written.take()

    def close(self) -> bytes:
        """Add the list of members, which is the end."""
        self._archive.close()
        return self._written.take()


class _Written:
    """What the archive writes to: without seek() and tell(), so that it writes straight on."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def write(self, data: bytes, /) -> int:
        self._parts.append(bytes(data))
        self.size += len(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """The archive has an end of its own."""

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        return data
