"""The maximum size of the rows of a file."""

from __future__ import annotations

from forebay.errors import DataError

_GROWTH = 200  # maximum ratio to the size of the file, as for archives
_SMALL = 16 << 20  # bytes below which the ratio does not matter


class ByteBudget:
    """The remaining bytes: references to long strings, or long column names, would otherwise fill the disk."""

    def __init__(self, size: int, most: int) -> None:
        """For a file of `size` bytes; `most` is the maximum for any file."""
        self._size = size
        self.allowed = min(most, max(_SMALL, size * _GROWTH))
        self._left = self.allowed

    def spend(self, count: int) -> None:
        """Raises: DataError when the budget is exceeded."""
        self._left -= count
        if self._left < 0:
            raise DataError(
                f"the rows of the file take more than {self.allowed} bytes, the maximum for a file of "
                f"{self._size} bytes (FOREBAY_SHEETS_MAX_READ_BYTES at most): split the file"
            )
