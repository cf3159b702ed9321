"""The user ids of sandboxed processes that root starts: ids that no account uses."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

_BASES = (1_900_000_000, 100_000_000)  # plus a process id, which is below 2²²: one for each sandbox
_LARGEST_PID = 1 << 22


def uid_base() -> int | None:
    """The number to add to the process id of a guard to get a user id for its sandbox; None if we are not root.

    Raises: LookupError if there are no such ids.
    """
    if os.geteuid() != 0:
        return None
    for base in _BASES:
        if _is_mapped(base) and not _is_taken(base):
            return base
    raise LookupError("this container has no user ids above 100,000,000 to run untrusted programs under")


def is_open_to_all(path: str) -> bool:
    """Whether every account can reach a path and read it."""
    real = Path(path).resolve()
    return bool(real.stat().st_mode & 0o004) and all(parent.stat().st_mode & 0o001 for parent in real.parents)


def _is_mapped(base: int) -> bool:
    """Whether this user namespace maps the ids."""
    lines = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text("ascii").splitlines()]
    return any(inside <= base and base + _LARGEST_PID <= inside + count for inside, _, count in lines)


def _is_taken(base: int) -> bool:
    return any(base <= entry.pw_uid < base + _LARGEST_PID for entry in pwd.getpwall())
