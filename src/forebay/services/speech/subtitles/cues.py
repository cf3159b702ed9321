"""Reads SRT and WebVTT, which differ in little: a line with two times, and the lines of a caption after it."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from forebay.services.speech.transcript import Segment, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLOCK = r"(?:(\d{1,5}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMES = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}")
_STAMP = re.compile(r"<((?:\d{1,5}:)?\d{1,2}:\d{1,2}\.\d{3})>")
_VTT_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
_SRT_TAG = re.compile(r"</?(?:[ibus]|font|span)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_LONGEST_LINE = 20_000


def read(text: str) -> list[Segment]:
    """The captions; comments, styles and regions are not captions, because they have no times."""
    is_vtt = text.lstrip("\ufeff").startswith("WEBVTT")
    return [segment for start, end, lines in _blocks(text) for segment in _caption(start, end, lines, is_vtt=is_vtt)]


def _blocks(text: str) -> Iterator[tuple[float, float, list[str]]]:
    times: tuple[float, float] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        line = line[:_LONGEST_LINE]  # noqa: PLW2901 - so that it is bounded
        if "-->" in line and (match := _TIMES.match(line)):
            if times is not None:  # no blank line between two captions
                yield *times, lines[:-1] if lines and lines[-1].strip().isdigit() else lines
            groups = match.groups()
            times, lines = (_seconds(*groups[:4]), _seconds(*groups[4:])), []
        elif times is not None and not line.strip():
            yield *times, lines
            times, lines = None, []
        elif times is not None:
            lines.append(line)
    if times is not None:
        yield *times, lines


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def _caption(start: float, end: float, lines: list[str], *, is_vtt: bool) -> Iterator[Segment]:
    plain = [_plain(line, is_vtt=is_vtt) for line in lines]
    text = "\n".join(line for line in plain if line)
    if text:
        words = tuple(_words(start, end, "\n".join(lines))) if is_vtt else ()
        yield Segment(start=start, end=max(start, end), text=text, words=words)


def _plain(line: str, *, is_vtt: bool) -> str:
    line = html.unescape(_VTT_TAG.sub("", _STAMP.sub("", line))) if is_vtt else _SRT_TAG.sub("", line)
    return " ".join(line.split())


def _words(start: float, end: float, text: str) -> Iterator[Word]:
    """The words of captions that are shown word by word: each begins at its timestamp."""
    parts = _STAMP.split(text)
    if len(parts) == 1:
        return
    begins = [start, *(_stamp(each) for each in parts[1::2])]
    ends = [*begins[1:], end]
    for begun, ended, part in zip(begins, ends, parts[::2], strict=True):
        # Of the first line of a rolling caption, which repeats the last one, no times are known.
        if word := _plain(part.rpartition("\n")[2], is_vtt=True):
            yield Word(start=begun, end=max(begun, ended), text=word)


def _stamp(text: str) -> float:
    clock, _, fraction = text.rpartition(".")
    parts = clock.split(":")
    return _seconds(parts[0] if len(parts) == 3 else None, parts[-2], parts[-1], fraction)
