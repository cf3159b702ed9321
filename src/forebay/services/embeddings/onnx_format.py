"""Writes graphs in the ONNX format: the few messages of its protocol buffers that a model needs.

The `onnx` package does the same with 20 MB; onnxruntime reads the result, and does not need it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FLOAT: Final = 1
INT32: Final = 6
INT64: Final = 7
_TYPES = {"float32": FLOAT, "uint8": 2, "int8": 3, "int32": INT32, "int64": INT64}

Attribute = int | float | tuple[int, ...]


def _varint(value: int) -> bytes:
    if value < 0:
        value += 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _int(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _int(3, value) + _int(20, 2)
    return _text(1, name) + b"".join(_int(8, each) for each in value) + _int(20, 7)


class Graph:
    """A graph that is written node by node; each method returns the name of its value."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        """A tensor that is part of the model."""
        dims = b"".join(_int(1, size) for size in value.shape)
        data = np.ascontiguousarray(value).tobytes()
        self._constants.append(dims + _int(2, _TYPES[value.dtype.name]) + _text(8, name) + _bytes(9, data))
        return name

    def node(
        self, op: str, inputs: Sequence[str], *, domain: str = "", outputs: int = 1, **attributes: Attribute
    ) -> str:
        """One operation; with several outputs they are named NAME.0, NAME.1 …"""
        name = f"{op}_{len(self._nodes)}"
        names = [name] if outputs == 1 else [f"{name}.{number}" for number in range(outputs)]
        self._nodes.append(
            b"".join(_text(1, each) for each in inputs)
            + b"".join(_text(2, each) for each in names)
            + _text(3, name)
            + _text(4, op)
            + b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
            + _text(7, domain)
        )
        return name

    def take(self, name: str, kind: int, dims: Sequence[str | int]) -> str:
        """An input."""
        self._inputs.append(_value(name, kind, dims))
        return name

    def give(self, name: str, kind: int, dims: Sequence[str | int]) -> None:
        """Name a value that was computed as an output."""
        self._outputs.append(_value(name, kind, dims))

    def to_bytes(self, opsets: dict[str, int]) -> bytes:
        """The model, for these versions of the sets of operations."""
        graph = (
            b"".join(_bytes(1, node) for node in self._nodes)
            + _text(2, self._name)
            + b"".join(_bytes(5, constant) for constant in self._constants)
            + b"".join(_bytes(11, value) for value in self._inputs)
            + b"".join(_bytes(12, value) for value in self._outputs)
        )
        sets = b"".join(_bytes(8, _text(1, domain) + _int(2, version)) for domain, version in opsets.items())
        return _int(1, 9) + _text(2, "forebay") + _bytes(7, graph) + sets


def _value(name: str, kind: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(_bytes(1, _int(1, dim) if isinstance(dim, int) else _text(2, dim)) for dim in dims)
    return _text(1, name) + _bytes(2, _bytes(1, _int(1, kind) + _bytes(2, shape)))
