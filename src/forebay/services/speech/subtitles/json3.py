"""Reads json3, the captions of YouTube: events with the times of their words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forebay.services.speech.transcript import Segment, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_MS = 1_000_000_000


class _Part(BaseModel):
    utf8: str = ""
    offset_ms: int = Field(default=0, alias="tOffsetMs", ge=0, le=_MAX_MS)


class _Captions(BaseModel):
    events: list[Any] = Field(default_factory=list[Any])


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore")

    start_ms: int = Field(alias="tStartMs", ge=0, le=_MAX_MS)
    duration_ms: int = Field(default=0, alias="dDurationMs", ge=0, le=_MAX_MS)
    parts: list[_Part] = Field(default_factory=list[_Part], alias="segs")


def read(text: str) -> list[Segment]:
    """The captions; nothing if the text is something else."""
    try:
        captions = _Captions.model_validate_json(text)
    except ValidationError:
        return []
    found = [event for each in captions.events for event in _event(each)]
    # An event is shown until the one after the next: what is said ends where the next one begins.
    following = [*(later.start_ms for _, later in pairwise(found)), _MAX_MS * 2]
    return [
        segment
        for event, next_ms in zip(found, following, strict=False)
        for segment in _segment(event, max(event.start_ms, min(event.start_ms + event.duration_ms, next_ms)))
    ]


def _event(value: Any) -> Iterator[_Event]:
    """An event with text; others are line breaks and styles."""
    try:
        event = _Event.model_validate(value)
    except ValidationError:
        return
    if any(part.utf8.strip() for part in event.parts):
        yield event


def _segment(event: _Event, end_ms: int) -> Iterator[Segment]:
    text = " ".join("".join(part.utf8 for part in event.parts).split())
    spoken = [part for part in event.parts if part.utf8.strip()]
    begins = [event.start_ms + part.offset_ms for part in spoken]
    ends = [*begins[1:], end_ms]
    words = [
        Word(start=begun / 1000, end=max(begun, ended) / 1000, text=" ".join(part.utf8.split()))
        for begun, ended, part in zip(begins, ends, spoken, strict=True)
    ]
    has_times = any(part.offset_ms for part in spoken)
    yield Segment(start=event.start_ms / 1000, end=end_ms / 1000, text=text, words=tuple(words) if has_times else ())
