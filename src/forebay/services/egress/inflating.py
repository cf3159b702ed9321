"""Decompresses bodies incrementally, so that a decompression bomb is stopped early."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from forebay.errors import DataError, TransientError

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCEPTED = "gzip, deflate"  # only these have a bounded decompressor in all supported versions of Python
_PIECE = 256 << 10
_MOST_RATIO = 200  # real pages stay far below; a bomb of zeros reaches 1000
_SMALL = 1 << 20  # bytes below which the ratio does not matter
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_RAW = -15  # deflate without its zlib header, as some servers send it


class Inflater:
    """Decompresses one body; `identity` only counts."""

    def __init__(self, encoding: str, max_bytes: int, place: str) -> None:
        """Raises: DataError for an encoding that was not requested."""
        encoding = encoding.strip().lower() or "identity"
        if encoding != "identity" and encoding not in _WINDOWS:
            raise DataError(f"{place} is encoded as {encoding[:50]!r}, which was not requested")
        self._encoding = encoding
        self._max_bytes, self._place = max_bytes, place
        self._inflater = zlib.decompressobj(_WINDOWS[encoding]) if encoding in _WINDOWS else None
        self._taken = 0
        self.given = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress these bytes, in pieces.

        Raises: DataError for invalid data, too much data, or a suspicious ratio.
        """
        self._taken += len(data)
        if self._inflater is None:
            yield self._counted(data)
            return
        while data:
            piece, data = self._inflated(data)
            if piece:
                yield self._counted(piece)

    def finish(self) -> None:
        """Raises: TransientError when the body ended too early."""
        if self._inflater is not None and self._taken and not self._inflater.eof:
            raise TransientError(f"{self._place} ended in the middle of its {self._encoding}")

    def _inflated(self, data: bytes) -> tuple[bytes, bytes]:
        """One piece, and the remaining input."""
        if self._inflater is None or (self._inflater.eof and not data.startswith(b"\x1f\x8b")):
            return b"", b""  # after the end there may be padding
        if self._inflater.eof:
            self._inflater = zlib.decompressobj(31)  # another member follows
        try:
            piece = self._inflater.decompress(data, _PIECE)
        except zlib.error:
            if self._encoding != "deflate" or self.given:
                raise DataError(f"{self._place} is invalid: it cannot be decompressed as {self._encoding}") from None
            self._encoding, self._inflater = "raw deflate", zlib.decompressobj(_RAW)
            return b"", data
        return piece, self._inflater.unconsumed_tail or self._inflater.unused_data

    def _counted(self, piece: bytes) -> bytes:
        self.given += len(piece)
        if self.given > self._max_bytes:
            raise DataError(f"{self._place} has more than {self._max_bytes} bytes, the maximum")
        if self.given > _SMALL and self.given > _MOST_RATIO * self._taken:
            raise DataError(f"{self._place} decompresses to more than {_MOST_RATIO} times its size")
        return piece
