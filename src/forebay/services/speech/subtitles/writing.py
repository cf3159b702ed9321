"""Writes transcripts as SRT, WebVTT, text and JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

from forebay.services.speech.subtitles.captions import captions, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.services.speech.transcript import Segment, Transcript

SubtitleFormat: TypeAlias = Literal["srt", "vtt", "txt", "json"]
TYPES: dict[SubtitleFormat, str] = {
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "json": "application/json",
}
_PARAGRAPH_S = 2.0  # a pause after which a paragraph begins
_BLANK_LINES = re.compile(r"\s*\n\s*")


def write(transcript: Transcript, form: SubtitleFormat) -> str:
    """The transcript in this format."""
    return _WRITERS[form](transcript)


def to_srt(transcript: Transcript) -> str:
    parts = [
        f"{number}\n{_clock(each.start, ',')} --> {_clock(each.end, ',')}\n{_lines(each)}\n"
        for number, each in enumerate(captions(transcript.segments), 1)
    ]
    return "\n".join(parts)


def to_vtt(transcript: Transcript) -> str:
    parts = [
        f"{_clock(each.start, '.')} --> {_clock(each.end, '.')}\n{_escaped(_lines(each))}\n"
        for each in captions(transcript.segments)
    ]
    return "\n".join(["WEBVTT\n", *parts])


def to_text(transcript: Transcript) -> str:
    """Paragraphs, which pauses separate."""
    paragraphs: list[list[str]] = []
    ended = None
    for segment in transcript.segments:
        if ended is None or segment.start - ended > _PARAGRAPH_S:
            paragraphs.append([])
        paragraphs[-1].append(segment.text)
        ended = segment.end
    return "".join(f"{' '.join(texts)}\n" for texts in paragraphs)


def to_json(transcript: Transcript) -> str:
    return transcript.model_dump_json()


_WRITERS: dict[SubtitleFormat, Callable[[Transcript], str]] = {
    "srt": to_srt,
    "vtt": to_vtt,
    "txt": to_text,
    "json": to_json,
}


def _lines(segment: Segment) -> str:
    """Without blank lines, which end a caption, and without arrows, which begin one."""
    return _BLANK_LINES.sub("\n", wrapped(segment.text).strip()).replace("-->", "->")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(seconds: float, point: str) -> str:
    total = max(0, round(seconds * 1000))
    rest, milliseconds = divmod(total, 1000)
    minutes, second = divmod(rest, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours:02}:{minute:02}:{second:02}{point}{milliseconds:03}"
