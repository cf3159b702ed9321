"""The files of this machine that a sandbox sees: system libraries, Python and the application's modules, read-only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forebay.runner.spec import MountKind

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
# Of /etc, only what libraries and programs read, and nothing that contains accounts, hosts or secrets.
_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
    "/etc/fonts", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates", "/etc/mime.types", "/etc/magic", "/var/cache/fontconfig", "/sys/devices/system/cpu",
)  # fmt: skip
_MODULES = (".py", ".pyc", ".so", ".dist-info", ".egg-info")
_BARE = (Path("/"), Path("/home"), Path("/root"), Path("/var"), Path("/etc"), Path("/tmp"))  # noqa: S108


def system_mounts() -> Iterator[tuple[MountKind, str, str]]:
    """The mounts of every sandbox; links stay links, as in a merged /usr."""
    for path in (*_SYSTEM, *_FILES):
        if Path(path).is_symlink() and path in _SYSTEM:
            yield "link", str(Path(path).readlink()), path
        elif os.path.exists(path):  # noqa: PTH110 - the target of a link matters
            yield "read", path, path


def program_mounts(programs: Iterable[str]) -> list[tuple[MountKind, str, str]]:
    """The folders of programs that are not part of the system."""
    return _readable(Path(os.path.realpath(program)).parent for program in programs)


def python_mounts(search_path: Iterable[str]) -> list[tuple[MountKind, str, str]]:
    """Python, its packages, and the application's modules. Other files in folders of the search path are not
    visible."""
    prefixes = [Path(prefix) for prefix in dict.fromkeys((sys.base_prefix, sys.prefix, sys.base_exec_prefix))]
    prefixes.append(Path(os.path.realpath(sys.executable)).parent)
    found = [*prefixes, Path(__file__).parents[1]]
    for entry in map(Path, search_path):
        if entry.is_file():
            found.append(entry)
        elif entry.is_dir() and not any(entry.is_relative_to(prefix) for prefix in prefixes):
            found.extend([entry] if entry.name in ("site-packages", "dist-packages") else modules_in(entry))
    return _readable(found)


def modules_in(folder: Path) -> Iterator[Path]:
    """The modules and packages of a folder, without its data, which may belong to a worker."""
    for entry in folder.iterdir():
        if entry.name.endswith(_MODULES) or (entry / "__init__.py").is_file():
            yield entry


def _readable(paths: Iterable[Path]) -> list[tuple[MountKind, str, str]]:
    """The paths, without those that another one contains."""
    wanted = sorted({path for path in paths if path not in _BARE})
    covered: list[Path] = [Path(path) for path in _SYSTEM]
    made: list[tuple[MountKind, str, str]] = []
    for path in wanted:
        if not any(path.is_relative_to(each) for each in covered) and path.exists():
            covered.append(path)
            made.append(("read", str(path), str(path)))
    return made
