"""The difference of two texts, for people to read."""

from __future__ import annotations

import re
from difflib import unified_diff
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTEXT = 1  # unchanged sentences around each change
_LONGEST_LINE = 500  # characters; longer sentences are divided
_LONGEST = 20_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def unified(before: str, after: str) -> str:
    """The unified difference of two texts, with a sentence per line, since a paragraph is often a single line.

    It has about 20,000 characters at most; a last line says how many lines are left out. Comparing can take quadratic
    time: call it with a time limit for untrusted texts.
    """
    lines = list(unified_diff([*_sentences(before)], [*_sentences(after)], n=_CONTEXT, lineterm=""))[2:]
    kept, size = 0, 0
    while kept < len(lines) and size < _LONGEST:
        size += len(lines[kept]) + 1
        kept += 1
    more = [f"… {len(lines) - kept} more lines"] if kept < len(lines) else []
    return "\n".join([*lines[:kept], *more])


def _sentences(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for sentence in _SENTENCE_END.split(line):
            for start in range(0, len(sentence), _LONGEST_LINE):
                yield sentence[start : start + _LONGEST_LINE]


_LONGEST_LINES = 200_000


def unified_lines(before: str, after: str, names: tuple[str, str]) -> tuple[str, bool]:
    """The unified difference of two texts by lines, as of files with these names, and whether it is cut.

    Comparing can take quadratic time: call it with a time limit for untrusted texts.
    """
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    text = "\n".join(lines)
    return text[:_LONGEST_LINES], len(text) > _LONGEST_LINES
