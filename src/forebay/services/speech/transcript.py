"""What is said in a recording: segments, and words with their times in seconds."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Word(BaseModel):
    """A word as it is written, with its punctuation."""

    model_config = ConfigDict(frozen=True)

    start: float
    end: float
    text: str


class Segment(BaseModel):
    """A sentence, or a part of one; `words` is empty if their times are unknown."""

    model_config = ConfigDict(frozen=True)

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()


class Transcript(BaseModel):
    """The segments in order; the language is a code such as `en`, or None if it is unknown."""

    model_config = ConfigDict(frozen=True)

    segments: tuple[Segment, ...] = ()
    language: str | None = None

    @property
    def text(self) -> str:
        return "\n".join(segment.text for segment in self.segments)


class Piece(BaseModel):
    """A part of a recording that was transcribed; the times of its segments count from the start of the recording."""

    model_config = ConfigDict(frozen=True)

    start_ms: int
    end_ms: int
    is_last: bool
    segments: tuple[Segment, ...] = ()
    language: str | None = None


def joined(pieces: list[Piece]) -> Transcript:
    """The transcript of a recording; its language is the one that is spoken longest."""
    spoken: dict[str, float] = {}
    for piece in pieces:
        if piece.language is not None:
            length = sum(segment.end - segment.start for segment in piece.segments)
            spoken[piece.language] = spoken.get(piece.language, 0.0) + length
    language = max(spoken, key=lambda code: spoken[code], default=None)
    return Transcript(segments=tuple(segment for piece in pieces for segment in piece.segments), language=language)
