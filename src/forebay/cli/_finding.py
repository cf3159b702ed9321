"""One thing that `forebay doctor` has looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["OK", "WARN", "FAIL"]

LITTLE_SPACE, NO_SPACE = 2 * 10**9, 2 * 10**8


@dataclass(frozen=True, slots=True)
class Finding:
    """`fix` is what to do about it."""

    level: Level
    about: str
    text: str
    fix: str | None = None


def of_space(free: int) -> Level:
    """How bad it is to have so many bytes left."""
    return "FAIL" if free < NO_SPACE else "WARN" if free < LITTLE_SPACE else "OK"
