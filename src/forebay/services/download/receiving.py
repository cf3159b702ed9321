"""Receives content into a partial file, within limits, and resumes after a broken connection."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeAlias

from forebay.errors import DataError, TransientError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from forebay.services.download.partial_file import PartialFile

Report: TypeAlias = Callable[[int, int | None], None]  # bytes received, and the total

MAX_BREAKS = 5  # consecutive breaks with less than _PROGRESS bytes in between, after which the attempt fails
_PROGRESS = 1 << 20
_BLOCK = 256 << 10  # bytes in memory per download: a worker may have a hundred


class Breaks:
    """Counts breaks of a transfer without progress."""

    def __init__(self, partial: PartialFile) -> None:
        self._partial = partial
        self._size = partial.size
        self._count = 0

    def may_continue(self) -> bool:
        """Count a break; returns whether this attempt should try again."""
        gained, self._size = self._partial.size - self._size, self._partial.size
        self._count = 1 if gained >= _PROGRESS else self._count + 1
        return self._partial.journal.proof is not None and gained > 0 and self._count <= MAX_BREAKS


async def receive(
    partial: PartialFile,
    proof: str,
    read: Callable[[int], AsyncGenerator[bytes]],
    *,
    name: str,
    max_bytes: int | None = None,
    total: int | None = None,
    report: Report | None = None,
) -> None:
    """Read versioned content into a partial file; `read` gets the offset to start at.

    Raises: DataError when it is too large; TransientError when it breaks too often; what `read` raises.
    """
    if partial.journal.proof != proof:
        await partial.begin(proof, total)
    breaks = Breaks(partial)
    while True:
        try:
            await append_all(partial, read(partial.size), name=name, max_bytes=max_bytes, report=report)
        except TransientError:
            if not breaks.may_continue():
                raise
        except DataError:
            partial.discard()
            raise
        else:
            return


async def append_all(
    partial: PartialFile,
    chunks: AsyncGenerator[bytes],
    *,
    name: str,
    max_bytes: int | None = None,
    end: int | None = None,
    report: Report | None = None,
) -> None:
    """Append the chunks; `end` is the announced size.

    Received content is kept after a break, but not beyond the announced size.

    Raises: DataError, TransientError, and what the chunks raise.
    """
    block = bytearray()
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                block += chunk
                size = partial.size + len(block)
                if max_bytes is not None and size > max_bytes:
                    raise DataError(f"{name} has more than {max_bytes} bytes, the maximum")
                if end is not None and size > end:
                    block.clear()
                    await partial.begin(None, None)
                    raise TransientError(f"{name} sent more than the {end} bytes that it announced")
                if len(block) >= _BLOCK:
                    await _flush(partial, block, report)
    finally:
        await _flush(partial, block, report)
    if end is not None and partial.size < end:
        raise TransientError(f"{name} sent {partial.size} of {end} bytes")


async def _flush(partial: PartialFile, block: bytearray, report: Report | None) -> None:
    if block:
        data = bytes(block)
        block.clear()  # first: a cancelled append still completes in its thread, and must not be repeated
        await partial.append(data)
        if report is not None:
            report(partial.size, partial.journal.total)
