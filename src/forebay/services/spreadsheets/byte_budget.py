"""How many bytes a file of rows may take once it is read."""

from __future__ import annotations

from forebay.errors import DataError

_GROWTH = 200  # times its own size that a file may grow, as for what is packed in archives
_SMALL = 16 << 20  # bytes up to which growth does not matter


class ByteBudget:
    """What is left of them: few bytes that refer to long strings, or to long names of columns, would otherwise fill
    the disk."""

    def __init__(self, size: int, most: int) -> None:
        """Of a file of `size` bytes; `most` for any file."""
        self._size = size
        self.allowed = min(most, max(_SMALL, size * _GROWTH))
        self._left = self.allowed

    def spend(self, count: int) -> None:
        """Raises: DataError when these are too many."""
        self._left -= count
        if self._left < 0:
            raise DataError(
                f"the rows of the file take more than {self.allowed} bytes, which is the most for a file of "
                f"{self._size} bytes (FOREBAY_SHEETS_MAX_READ_BYTES at most): split the file"
            )
