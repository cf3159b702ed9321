"""Numbers of items or rows as text: `3,7-9`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.api.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

PATTERN = r"^[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?(,[1-9][0-9]{0,8}(-[1-9][0-9]{0,8})?)*$"


def read_ranges(text: str, field: str) -> list[tuple[int, int]]:
    """The ranges of a text that matches the pattern, in order, each number once.

    Raises: Problem 422.
    """
    named = sorted((int(part.partition("-")[0]), int(part.rpartition("-")[2])) for part in text.split(","))
    ranges: list[tuple[int, int]] = []
    for first, last in named:
        if last < first:
            raise Problem(422, f"the range {first}-{last} ends before it begins", field=field)
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], last))
        else:
            ranges.append((first, last))
    return ranges


def write_ranges(numbers: Sequence[int]) -> str:
    """Numbers in ascending order as text."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
