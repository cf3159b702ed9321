"""Removes what rolling captions repeat: each of them shows the last line of the previous one again."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from forebay.services.speech.transcript import Segment

if TYPE_CHECKING:
    from collections.abc import Sequence

_LATE_S = 0.1  # between two captions that follow each other
_SHARE = 0.3  # of captions that repeat a line; in others, somebody says it again
_FEWEST = 2


def without_repeats(segments: Sequence[Segment]) -> list[Segment]:
    """Captions that roll become one segment for each new line; others remain."""
    repeating = sum(_repeated(one, other) > 0 for one, other in pairwise(segments))
    if repeating < _FEWEST or repeating < _SHARE * (len(segments) - 1):
        return list(segments)
    found: list[Segment] = []
    previous: Segment | None = None
    for each in segments:
        dropped = _repeated(previous, each) if previous is not None else 0
        lines = each.text.split("\n")[dropped:]
        if lines:
            found.append(each.model_copy(update={"text": " ".join(lines)}))
        elif found:
            found[-1] = found[-1].model_copy(update={"end": max(found[-1].end, each.end)})
        previous = each
    return _without_overlaps(found)


def _repeated(one: Segment, other: Segment) -> int:
    """How many of its first lines repeat the last ones of the caption before it."""
    if other.start > one.end + _LATE_S:
        return 0
    before, after = one.text.split("\n"), other.text.split("\n")
    return next((n for n in range(min(len(before), len(after)), 0, -1) if before[-n:] == after[:n]), 0)


def _without_overlaps(segments: Sequence[Segment]) -> list[Segment]:
    """What is said ends where the next begins, although it is still shown."""
    ended = [
        one.model_copy(update={"end": max(one.start, min(one.end, other.start))}) for one, other in pairwise(segments)
    ]
    return [*ended, *segments[-1:]]
