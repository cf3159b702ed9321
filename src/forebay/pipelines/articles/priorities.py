"""The priorities of tasks by name."""

from __future__ import annotations

from typing import Final

_RANKS: Final = {"high": 10, "normal": 0, "low": -10}


def rank_of(priority: str) -> int:
    """The priority of a job; the SQL function `priority_rank` says the same."""
    return _RANKS[priority]
