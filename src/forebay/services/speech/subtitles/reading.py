"""Reads subtitles, which come from strangers: whatever they contain, the result is bounded. To be run in a limited
process.

Captions that cannot be understood are skipped, as players do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from forebay.errors import DataError
from forebay.services.speech.subtitles import cues, json3, timed_text
from forebay.services.speech.subtitles.rolling import without_repeats
from forebay.services.speech.transcript import Segment, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_BYTES = 16 << 20
MAX_SEGMENTS = 50_000
MAX_TEXT = 5000  # characters of a segment
MAX_S = 1_000_000.0
_OVERLONG = f"subtitles may have at most {MAX_BYTES >> 20} MB"


def read_subtitles(data: bytes, language: str | None = None) -> Transcript:
    """The transcript in a file; its format is found by its content.

    Raises: DataError if there are no subtitles in it.
    """
    if len(data) > MAX_BYTES:
        raise DataError(_OVERLONG)
    text = _decoded(data)
    found = tuple(bounded(without_repeats(_segments(text))))
    if not found:
        raise DataError("there are no subtitles in this file")
    return Transcript(segments=found, language=language)


def _segments(text: str) -> list[Segment]:
    start = text.lstrip()[:1]
    if start == "{":
        return json3.read(text) or _own(text)
    if start == "<":
        return timed_text.read(text)
    return cues.read(text)


def _own(text: str) -> list[Segment]:
    try:
        return list(Transcript.model_validate_json(text).segments)
    except ValidationError:
        return []


def bounded(segments: Iterable[Segment]) -> Iterator[Segment]:
    """The first of them that are within the bounds, in order."""
    kept = [each for each in segments if each.text and 0 <= each.start <= each.end <= MAX_S]
    kept.sort(key=lambda each: each.start)
    for each in kept[:MAX_SEGMENTS]:
        yield each.model_copy(update={"text": each.text[:MAX_TEXT]}) if len(each.text) > MAX_TEXT else each


def _decoded(data: bytes) -> str:
    """Subtitles are UTF-8 or have a byte order mark; old ones are in a code page of Windows."""
    marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    encoding = next((name for mark, name in marks if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
