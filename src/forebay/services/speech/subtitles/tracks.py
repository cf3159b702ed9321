"""Reads subtitles that are text inside a recording. To be run in a limited process."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from forebay.errors import DataError
from forebay.services import av_files
from forebay.services.speech.subtitles.reading import MAX_BYTES, MAX_SEGMENTS, bounded
from forebay.services.speech.subtitles.rolling import without_repeats
from forebay.services.speech.transcript import Segment, Transcript

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STYLE = re.compile(r"\{\\[^{}]*\}")
# Files have the codes of ISO 639-2, of which some have two forms; transcripts have those of ISO 639-1.
_PAIRS = """
ara ar ben bn bul bg cat ca ces cs cze cs chi zh zho zh cym cy wel cy dan da deu de ger de dut nl nld nl ell el gre el
eng en est et fas fa per fa fin fi fra fr fre fr gle ga heb he hin hi hrv hr hun hu ice is isl is ind id ita it jpn ja
kor ko lav lv lit lt mac mk mkd mk may ms msa ms nor no pol pl por pt ron ro rum ro rus ru slk sk slo sk slv sl spa es
srp sr swe sv tam ta tel te tha th tur tr ukr uk urd ur vie vi
"""
_SHORT: dict[str, str] = dict(zip(_PAIRS.split()[::2], _PAIRS.split()[1::2], strict=True))


def read_track(path: Path, spoken: str | None) -> Transcript | None:
    """The subtitles of what is said; `spoken` is the language if it is known. None if there are none: translations, and
    the captions of a few foreign words, are not what is said.

    Raises: DataError when the file cannot be read.
    """
    with av_files.opened(path) as container:
        audio = next(iter(container.streams.audio), None)
        track = _chosen(av_files.text_tracks(container), _code(spoken) or _code(getattr(audio, "language", None)))
        if track is None:
            return None
        try:
            found = tuple(bounded(without_repeats(list(_segments(container, track)))))
        except av_files.damaged() as error:
            raise DataError(f"the subtitles of the file cannot be read: {av_files.reason(error)}") from error
        return Transcript(segments=found, language=_code(track.language)) if found else None


def _code(language: str | None) -> str | None:
    code = (language or "").lower().partition("-")[0]
    return _SHORT.get(code, code if len(code) == 2 else None)


def _chosen(tracks: list[Any], spoken: str | None) -> Any | None:
    """The first track in the language that is spoken; if that is unknown, the first of all. Those for people who cannot
    hear also describe sounds: they come last."""
    kinds = import_module("av.stream").Disposition
    whole = [each for each in tracks if not each.disposition & kinds.forced]
    if spoken is not None:
        whole = [each for each in whole if _code(each.language) in (spoken, None)]
        whole.sort(key=lambda each: _code(each.language) is None)
    return min(whole, key=lambda each: bool(each.disposition & kinds.hearing_impaired), default=None)


def _segments(container: Any, track: Any) -> Iterator[Segment]:
    """The captions, up to the limits: the rest of the file, which may be long, is not read then."""
    count, size = 0, 0
    for packet in container.demux(track):
        if packet.pts is None:
            continue
        start = float(packet.pts * packet.time_base)
        end = start + float((packet.duration or 0) * packet.time_base)
        for caption in packet.decode():
            text = _STYLE.sub("", bytes(getattr(caption, "dialogue", b"")).decode("utf-8", "replace"))
            text = "\n".join(filter(None, (line.strip() for line in text.replace("\0", "").split("\n"))))
            if not text:
                continue
            count, size = count + 1, size + len(text)
            if count > MAX_SEGMENTS or size > MAX_BYTES:
                return
            yield Segment(start=start, end=end, text=text)
