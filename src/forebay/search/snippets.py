"""Pieces of texts with the words that were found, as parts: the reader decides how to mark them, and needs no HTML."""

from __future__ import annotations

import bisect
import json
import re

START, STOP = "\x02", "\x03"  # what the database puts around words; texts are stripped of them
_MARKED = re.compile(f"{START}([^{STOP}]*){STOP}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


def parts_of(marked: str) -> list[tuple[str, bool]]:
    """Pieces of a text in order, and whether each was found."""
    parts: list[tuple[str, bool]] = []
    for place, piece in enumerate(_MARKED.split(marked)):
        if text := _CONTROLS.sub(" ", piece):
            parts.append((text, place % 2 == 1))
    return parts


def second_of(marks: str | None, body_offset: int | None) -> float | None:
    """The second of a recording at an offset of its text; None before the first mark, where nothing is said yet."""
    if marks is None or body_offset is None:
        return None
    pairs: list[tuple[int, float]] = json.loads(marks)
    place = bisect.bisect_right([pair[0] for pair in pairs], body_offset)
    return float(pairs[place - 1][1]) if place else None
