"""Reads TTML, and the XML captions of YouTube: paragraphs with times.

The parser is one of HTML, which is tolerant, needs linear time, and knows no entities that a document declares.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from forebay.services.speech.transcript import Segment

_CLOCK = re.compile(r"^(?:(\d{1,5}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9})|:(\d{1,3}))?$")
_OFFSET = re.compile(r"^(\d{1,12}(?:\.\d{1,9})?)(h|m|s|ms|f|t)$")
_NUMBER = re.compile(r"^\d{1,12}(?:\.\d{1,9})?$")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_FRAME_RATE, _MAX_RATE = 30.0, 10_000_000_000.0


def read(text: str) -> list[Segment]:
    """The captions of a document."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_caption()
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Segment] = []
        self._times: tuple[float, float] | None = None
        self._text: list[str] = []
        self._frame_rate, self._tick_rate = _FRAME_RATE, 1.0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = tag.rpartition(":")[2]
        values = {key.rpartition(":")[2]: value or "" for key, value in attrs}
        if name == "tt":
            self._frame_rate = _rate(values.get("framerate"), _FRAME_RATE)
            self._tick_rate = _rate(values.get("tickrate"), 1.0)
        elif name == "br":
            self._text.append("\n")
        elif name in ("p", "text"):
            self.end_caption()
            self._times = self._read_times(values)

    def handle_endtag(self, tag: str) -> None:
        if tag.rpartition(":")[2] in ("p", "text"):
            self.end_caption()

    def handle_data(self, data: str) -> None:
        if self._times is not None:
            self._text.append(data)

    def end_caption(self) -> None:
        lines = (" ".join(line.split()) for line in "".join(self._text).split("\n"))
        text = "\n".join(line for line in lines if line)
        if self._times is not None and text:
            start, end = self._times
            self.found.append(Segment(start=start, end=max(start, end), text=text))
        self._times, self._text = None, []

    def _read_times(self, values: dict[str, str]) -> tuple[float, float] | None:
        if "t" in values:  # YouTube's third format, in milliseconds
            start, length = _number(values["t"], 0.001), _number(values.get("d"), 0.001)
        else:
            start, length = self._time(values.get("begin") or values.get("start")), self._time(values.get("dur"))
        end = self._time(values.get("end"))
        if start is None:
            return None
        return start, end if end is not None else start + (length or 0.0)

    def _time(self, text: str | None) -> float | None:
        text = (text or "").strip()
        if match := _CLOCK.match(text):
            hours, minutes, seconds, fraction, frames = match.groups()
            whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
            return whole + float(f"0.{fraction or 0}") + int(frames or 0) / self._frame_rate
        if match := _OFFSET.match(text):
            rates = {"f": 1 / self._frame_rate, "t": 1 / self._tick_rate}
            return float(match[1]) * (_SECONDS | rates)[match[2]]
        return _number(text, 1.0)


def _number(text: str | None, unit: float) -> float | None:
    return float(text) * unit if text and _NUMBER.match(text) else None


def _rate(text: str | None, default: float) -> float:
    rate = _number(text, 1.0)
    return rate if rate is not None and 1 <= rate <= _MAX_RATE else default
