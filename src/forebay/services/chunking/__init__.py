"""Chunking: cuts a text into pieces that an embedding model can take, at the places where the text itself has breaks.

A chunk begins at a heading if possible, else at a paragraph, else at a sentence; only a sentence that is too long is
cut at a space, or anywhere. A chunk that continues a section repeats the last sentences of the chunk before it.

Where chunks begin depends on the text around that place, not on what is far before it: after a change, the chunks that
follow are mostly the same as before, and are not embedded again.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

CountTokens: TypeAlias = Callable[[Sequence[str]], Sequence[int]]
"""The number of tokens of each text."""

_PARAGRAPH = re.compile(r"\S(?:.*?\S)?(?=\s*?\n[^\S\n]*\n|\s*\Z|\s*?\n#{1,6}\s)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+\S[^\n]*")
_SENTENCE = re.compile(r"\S.*?(?:[.!?…。！？]+[\"'”’)\]]*(?=\s)|(?<=[。！？])|\Z)", re.DOTALL)  # noqa: RUF001 - CJK
_NEW_ONE_IN = 3  # paragraphs that may begin a chunk before it is full


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text: `text[start:stop]`, and the digest of what is embedded for it."""

    start: int
    stop: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a part of one; `begins` what: 2 a section, 1 a paragraph, 0 neither."""

    start: int
    stop: int
    tokens: int
    begins: int


def chunk_text(text: str, count: CountTokens, *, budget: int, overlap: int = 0, context: str = "") -> list[Chunk]:
    """The chunks of a text, in order, each of at most `budget` tokens, of which up to `overlap` repeat the one before.

    `context` is what is embedded before each chunk, such as a title: it is part of the digest. Together the chunks have
    all of the text but blanks; equal chunks are given once.
    """
    if budget < 1 or not 0 <= overlap < budget:
        raise ValueError("budget must be at least 1, and overlap less than it")
    found: dict[bytes, Chunk] = {}
    for start, stop in _merge(text, _pieces(text, count, budget), budget, overlap):
        digest = hashlib.sha256(f"{context}\n{text[start:stop]}".encode("utf-8", "surrogatepass")).digest()
        found.setdefault(digest, Chunk(start, stop, digest))
    return list(found.values())


def _pieces(text: str, count: CountTokens, budget: int) -> list[_Piece]:
    spans = list(_sentences(text))
    tokens: Sequence[int] = count([text[start:stop] for start, stop, _ in spans]) if spans else ()
    pieces: list[_Piece] = []
    for (start, stop, begins), size in zip(spans, tokens, strict=True):
        if size <= budget:
            pieces.append(_Piece(start, stop, size, begins))
        else:
            pieces += _cut(text, start, stop, count, budget, begins)
    return pieces


def _sentences(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, stop, and what begins there."""
    for paragraph in _PARAGRAPH.finditer(text):
        start, stop, begins = paragraph.start(), paragraph.end(), 1
        if heading := _HEADING.match(text, start, stop):
            yield start, heading.end(), 2
            start, begins = heading.end(), 0
        for sentence in _SENTENCE.finditer(text, start, stop):
            yield sentence.start(), sentence.end(), begins
            begins = 0


def _cut(text: str, start: int, stop: int, count: CountTokens, budget: int, begins: int) -> list[_Piece]:
    """Halve what is too long, at a space near the middle if there is one. A single character is never too long."""
    todo, done = [(start, stop)], list[_Piece]()
    while todo:
        start, stop = todo.pop()
        size = count([text[start:stop]])[0]
        if size <= budget or stop - start == 1:
            done.append(_Piece(start, stop, min(size, budget), begins if not done else 0))
            continue
        middle = (start + stop) // 2
        space = text.rfind(" ", start + (middle - start) // 2, middle)
        middle = middle if space <= start else space
        todo += [(middle, stop), (start, middle)]
    return done


def _merge(text: str, pieces: Sequence[_Piece], budget: int, overlap: int) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for place, piece in enumerate(pieces):
        if place > first and (size + piece.tokens > budget or _may_begin(text, piece, size, budget)):
            yield pieces[first].start, pieces[place - 1].stop
            room = 0 if piece.begins == 2 else min(overlap, budget - piece.tokens)
            first, size = _step_back(pieces, first + 1, place, room)
        size += piece.tokens
    if pieces:
        yield pieces[first].start, pieces[-1].stop


def _may_begin(text: str, piece: _Piece, size: int, budget: int) -> bool:
    """Whether a chunk begins here although there is room in the one before."""
    if piece.begins == 2:
        return size * 8 >= budget
    chosen = zlib.crc32(text[piece.start : piece.stop].encode("utf-8", "surrogatepass")) % _NEW_ONE_IN == 0
    return piece.begins == 1 and size * 2 >= budget and chosen


def _step_back(pieces: Sequence[_Piece], least: int, place: int, room: int) -> tuple[int, int]:
    """The first of the pieces before a place that fit into `room`, and their tokens."""
    size = 0
    while place > least and size + pieces[place - 1].tokens <= room:
        place -= 1
        size += pieces[place].tokens
    return place, size
