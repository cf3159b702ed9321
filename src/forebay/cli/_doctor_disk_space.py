"""How `forebay doctor` judges free space on a disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.hooks import Level

LITTLE_SPACE, NO_SPACE = 2 * 10**9, 2 * 10**8


def of_space(free: int) -> Level:
    """How bad it is to have so many bytes left."""
    return "FAIL" if free < NO_SPACE else "WARN" if free < LITTLE_SPACE else "OK"
