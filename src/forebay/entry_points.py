"""Entry points of installed distributions, read without `importlib.metadata`.

That module takes twenty times as long as all of `forebay --help` has, as it parses every entry point of every
distribution. Here, a file is parsed only if it names the group. Found is what lies as a folder `*.dist-info` or
`*.egg-info` in a folder of `sys.path`, as pip and uv install distributions, editable ones included; not what lies in
a ZIP file.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIXES = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    """`name = value` in the entry points of a distribution; the value is `module:object`."""

    name: str
    value: str
    distribution: str

    def load(self) -> Any:
        """The object. Raises: whatever its import raises."""
        module, _, path = self.value.partition(":")
        found: Any = import_module(module)
        for part in filter(None, path.split(".")):
            found = getattr(found, part)
        return found

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name; of a distribution that lies in two folders, those that Python imports."""
    header = f"[{group}]".encode()
    found: dict[str, list[EntryPoint]] = {}
    for folder in sys.path:
        for distribution, data in _files(folder or "."):
            if distribution not in found:
                found[distribution] = [*_parsed(data, group, distribution)] if header in data else []
    return sorted((point for points in found.values() for point in points), key=lambda point: point.name)


def _files(folder: str) -> Iterator[tuple[str, bytes]]:
    """The distributions in a folder that have entry points, each with the file of them."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - pathlib is slow
    except OSError:  # a ZIP file, or a folder that is not there
        return
    for name in names:
        if name.endswith(_SUFFIXES):
            try:
                with open(f"{folder}/{name}/entry_points.txt", "rb", buffering=0) as file:  # noqa: PTH123
                    yield _distribution(name), file.read()
            except OSError:  # most have none
                continue


def _distribution(name: str) -> str:
    return name.rpartition(".")[0].partition("-")[0].replace("_", "-").lower()


def _parsed(data: bytes, group: str, distribution: str) -> Iterator[EntryPoint]:
    section = ""
    for line in map(str.strip, data.decode(errors="replace").splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == group and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.partition("[")[0].strip().replace(" ", ""), distribution)
