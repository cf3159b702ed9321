"""The limits of this container or service, as its control group says (cgroup v2 and v1)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_UNLIMITED = 1 << 60  # what v1 says in place of "max"
_MOST_THROTTLED = 0.99


def free_memory() -> float:
    """The share of memory that is left, where it is scarcest; 1.0 without a limit."""
    v2, v1 = _known("", _free), _known("memory", _free_v1)
    return min([*v2, *v1], default=1.0)


def cores() -> float | None:
    """How many cores it may use; None without a limit."""
    return min([*_known("", _cores), *_known("cpu", _cores_v1)], default=None)


def throttled() -> float:
    """The share of the last ten seconds in which it was not allowed to run although it wanted to. v1 does not tell."""
    return min(_MOST_THROTTLED, max(_known("", _throttled), default=0.0))


def _known(controller: str, read: Callable[[Path], float | None]) -> list[float]:
    """What can be read in its group and those around it."""
    found: list[float] = []
    for folder in _folders(controller):
        with suppress(OSError, ValueError, KeyError, IndexError):  # no such limit here
            value = read(folder)
            if value is not None:
                found.append(value)
    return found


def _folders(controller: str) -> Iterator[Path]:
    """A container sees its own group as the root, whatever the path says."""
    base = _ROOT / controller if controller else _ROOT
    yield base
    with suppress(OSError):
        for line in _OWN.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                inner = Path(path.lstrip("/"))
                yield from (base / each for each in (inner, *inner.parents) if each != Path())


def _free(folder: Path) -> float | None:
    limit = (folder / "memory.max").read_text().strip()
    used, cached = int((folder / "memory.current").read_text()), _numbers(folder / "memory.stat")["inactive_file"]
    return None if limit == "max" else max(0.0, 1 - (used - cached) / int(limit))


def _free_v1(folder: Path) -> float | None:
    limit = int((folder / "memory.limit_in_bytes").read_text())
    used = int((folder / "memory.usage_in_bytes").read_text())
    cached = _numbers(folder / "memory.stat")["total_inactive_file"]
    return None if limit >= _UNLIMITED else max(0.0, 1 - (used - cached) / limit)


def _cores(folder: Path) -> float | None:
    quota, period = (folder / "cpu.max").read_text().split()
    return None if quota == "max" else int(quota) / int(period)


def _cores_v1(folder: Path) -> float | None:
    quota = int((folder / "cpu.cfs_quota_us").read_text())
    return None if quota <= 0 else quota / int((folder / "cpu.cfs_period_us").read_text())


def _throttled(folder: Path) -> float | None:
    lines = [line.split() for line in (folder / "cpu.pressure").read_text().splitlines()]
    full = next((line for line in lines if line[0] == "full"), None)
    return None if full is None else float(full[1].partition("=")[2]) / 100


def _numbers(file: Path) -> dict[str, int]:
    return {words[0]: int(words[1]) for line in file.read_text().splitlines() if len(words := line.split()) > 1}
