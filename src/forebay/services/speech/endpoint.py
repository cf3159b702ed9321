"""Transcribes pieces of recordings with an OpenAI-compatible service, if one is configured."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from forebay.services.openai.client import OpenAiClient, RequestFile
from forebay.services.openai.service import read_service
from forebay.services.speech.audio import RATE
from forebay.services.speech.languages import language_code
from forebay.services.speech.transcript import Piece, Segment, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forebay.services.egress import Http
    from forebay.services.openai.service import Service
    from forebay.services.speech.recognition import AudioPiece
    from forebay.settings import Settings

PIECE_S = 120.0  # of a recording: 4 MB, and an answer before the connection counts as idle
_TIMEOUT_S = 600.0
_ANSWER_BYTES = 8 << 20
_SHORTEST_MS = 100  # services reject shorter recordings


def speech_service(settings: Settings) -> Service | None:
    """The configured service; None when there is none: then the local model does it.

    Raises: ConfigError when the settings are incomplete.
    """
    return read_service(
        "speech service", "FOREBAY_SPEECH", settings.speech_url, settings.speech_model, settings.speech_key
    )


async def ask(http: Http, service: Service, piece: AudioPiece, language: str, purpose: str) -> Piece:
    """Transcribe a piece.

    Raises: what `OpenAiClient.post_form` raises.
    """
    known = Piece(start_ms=piece.start_ms, end_ms=piece.end_ms, is_last=piece.is_last)
    if piece.end_ms - piece.start_ms < _SHORTEST_MS:
        return known
    client = OpenAiClient(http, service, purpose, timeout=_TIMEOUT_S, max_bytes=_ANSWER_BYTES)
    fields: dict[str, str | tuple[str, ...]] = {
        "response_format": "verbose_json",
        "timestamp_granularities[]": ("segment", "word"),
    }
    if language:
        fields["language"] = language
    file = RequestFile("file", "speech.wav", "audio/wav", wav(piece.samples))
    answer = await client.post_form("audio/transcriptions", fields, file, Transcription)
    segments = tuple(answer.timed(piece.start_ms / 1000, piece.end_ms / 1000))
    return known.model_copy(
        update={"segments": segments, "language": language_code(answer.language) if segments else None}
    )


def wav(samples: bytes) -> bytes:
    """16-bit mono samples as a WAV file."""
    head = struct.pack("<4sI8sIHHIIHH", b"RIFF", 36 + len(samples), b"WAVEfmt ", 16, 1, 1, RATE, RATE * 2, 2, 16)
    return head + struct.pack("<4sI", b"data", len(samples)) + samples


class _Timed(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)

    start: float
    end: float

    def within(self, offset: float, most: float) -> tuple[float, float]:
        """Its times in the recording, of which it is a part, whatever the service says."""
        start = min(max(offset, offset + self.start), most)
        return round(start, 3), round(min(max(start, offset + self.end), most), 3)


class _ServiceWord(_Timed):
    word: str = Field(max_length=1000)


class _ServiceSegment(_Timed):
    text: str = Field(max_length=100_000)


class Transcription(BaseModel):
    """A response of the format `verbose_json`."""

    text: str
    language: str | None = None
    segments: list[_ServiceSegment] | None = Field(default=None, max_length=100_000)
    words: list[_ServiceWord] | None = Field(default=None, max_length=1_000_000)

    def timed(self, offset: float, most: float) -> Iterator[Segment]:
        """The segments with their words, which the service lists apart. Without times, the piece is one segment."""
        segments = self.segments or [_ServiceSegment(start=0.0, end=most - offset, text=self.text)]
        segments.sort(key=lambda segment: segment.start)
        words = sorted(self.words or [], key=lambda word: word.start)
        following = [segment.start for segment in segments[1:]] + [math.inf]
        taken = 0
        for segment, next_start in zip(segments, following, strict=True):
            first = taken
            while taken < len(words) and (words[taken].start + words[taken].end) / 2 < next_start:
                taken += 1
            text = segment.text.strip()
            start, end = segment.within(offset, most)
            if text:
                yield Segment(start=start, end=end, text=text, words=tuple(_words(words[first:taken], offset, most)))


def _words(found: list[_ServiceWord], offset: float, most: float) -> Iterator[Word]:
    for each in found:
        start, end = each.within(offset, most)
        if text := each.word.strip():
            yield Word(start=start, end=end, text=text)
