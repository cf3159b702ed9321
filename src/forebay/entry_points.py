"""Entry points of installed distributions, read without `importlib.metadata`.

That module takes twenty times as long as the time budget of `forebay --help`, because it parses every entry point of
every distribution. This one parses a file only if it contains the group. It finds folders `*.dist-info` and
`*.egg-info` in the folders of `sys.path`, as pip and uv install distributions, including editable ones; it does not
search ZIP files.
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
        """Import the object. Raises: whatever the import raises."""
        module, _, path = self.value.partition(":")
        found: Any = import_module(module)
        for part in filter(None, path.split(".")):
            found = getattr(found, part)
        return found

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name; of a distribution in two folders, those of the folder that Python
    imports."""
    header = f"[{group}]".encode()
    found: dict[str, list[EntryPoint]] = {}
    for folder in sys.path:
        for distribution, data in _files(folder or "."):
            if distribution not in found:
                found[distribution] = [*_parsed(data, group, distribution)] if header in data else []
    return sorted((point for points in found.values() for point in points), key=lambda point: point.name)


def _files(folder: str) -> Iterator[tuple[str, bytes]]:
    """The distributions in a folder that have entry points, with the content of the file."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - pathlib is slow
    except OSError:  # a ZIP file, or a missing folder
        return
    for name in names:
        if name.endswith(_SUFFIXES):
            try:
                with open(f"{folder}/{name}/entry_points.txt", "rb", buffering=0) as file:  # noqa: PTH123
                    yield _distribution(name), file.read()
            except OSError:  # most distributions have none
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
