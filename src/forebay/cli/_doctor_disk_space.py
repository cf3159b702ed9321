"""Disk space in `forebay doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.hooks import Level

LITTLE_SPACE, NO_SPACE = 2 * 10**9, 2 * 10**8


def of_space(free: int) -> Level:
    """The level of a finding for this number of free bytes."""
    return "FAIL" if free < NO_SPACE else "WARN" if free < LITTLE_SPACE else "OK"
