"""Reads tensors of a safetensors file: a header in JSON, and the numbers. One tensor at a time, without a copy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_LONGEST_HEADER = 16 << 20


class Tensors:
    """The float32 tensors of a file by name."""

    def __init__(self, path: Path) -> None:
        self._data = np.memmap(path, dtype=np.uint8, mode="r")
        size = int(self._data[:8].view("<u8")[0]) if self._data.size >= 8 else 0
        if not 0 < size <= min(_LONGEST_HEADER, self._data.size - 8):
            raise ValueError(f"{path.name} is not a safetensors file")
        self._header = json.loads(bytes(self._data[8 : 8 + size]))
        self._start = 8 + size

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        about = self._header[name]
        if about["dtype"] != "F32":
            raise ValueError(f"the tensor {name} is not of the type F32 but {about['dtype']}")
        begin, end = about["data_offsets"]
        found: NDArray[np.float32] = self._data[self._start + begin : self._start + end].view("<f4")
        return found.reshape(about["shape"])
