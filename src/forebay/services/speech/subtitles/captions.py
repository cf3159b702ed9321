"""Splits segments into captions: short enough to be read, and not longer than they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.services.speech.transcript import Segment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from forebay.services.speech.transcript import Word

_LINE = 42  # characters, as broadcasters recommend
_LENGTH = 2 * _LINE
_SHOWN_S = 7.0
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "\uff01", "\uff1f")
_SENTENCE_LENGTH = 30  # characters from which on the end of a sentence ends a caption


def captions(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Segments with the times of their words are split; the others remain as they are."""
    for segment in segments:
        if not segment.words or (len(segment.text) <= _LENGTH and segment.end - segment.start <= _SHOWN_S):
            yield segment
            continue
        for part in _split(segment.words):
            yield _caption(part, segment.text)


def _split(words: Iterable[Word]) -> Iterator[list[Word]]:
    part: list[Word] = []
    length = 0
    for word in words:
        full = length + len(word.text) > _LENGTH or (part and word.end - part[0].start > _SHOWN_S)
        ended = length >= _SENTENCE_LENGTH and part and part[-1].text.endswith(_SENTENCE_ENDS)
        if part and (full or ended):
            yield part
            part, length = [], 0
        part.append(word)
        length += len(word.text) + 1
    if part:
        yield part


def _caption(words: list[Word], text: str) -> Segment:
    """Words are separated as in their segment: not all languages have spaces."""
    separator = " " if " ".join(word.text for word in words) in text or " " in text else ""
    end = max(words[0].start, words[-1].end)
    return Segment(start=words[0].start, end=end, text=separator.join(word.text for word in words))


def wrapped(text: str) -> str:
    """A caption in two lines of similar length, if it is too long for one."""
    if len(text) <= _LINE or "\n" in text:
        return text
    spaces = [place for place, char in enumerate(text) if char == " "]
    if not spaces:
        return text
    middle = min(spaces, key=lambda place: abs(place - len(text) // 2))
    return f"{text[:middle]}\n{text[middle + 1 :]}"
