"""Finds documents of an owner by words, by meaning, or by both: two lists, merged by reciprocal rank fusion.

A search never waits for work that is pending: what is not embedded yet is found by its words, and by the meaning of its
last version that was embedded.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from forebay.search import db
from forebay.search.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import asyncpg

    from forebay.db.pool import Connection

Mode: TypeAlias = Literal["words", "meaning", "both"]

MOST = 200  # candidates of each list: what a user can page through
_FEW = 10  # hits with all words; if there are fewer, those with some words follow
_FAR = 0.8  # a distance that means nothing in common


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents are searched; empty: all."""

    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    without: int | None = None

    def to_json(self, question: Question | None = None) -> str:
        """As the database takes it."""
        given: dict[str, object] = {name: list(value) for name in ("kinds", "tags") if (value := getattr(self, name))}
        given |= {name: value.isoformat() for name in ("since", "until") if (value := getattr(self, name)) is not None}
        if self.without is not None:
            given["not"] = str(self.without)
        if question is not None:
            given |= {name: value for name in ("phrases", "excluded") if (value := getattr(question, name))}
        return json.dumps(given)


@dataclass(frozen=True, slots=True)
class Vector:
    """What is looked for, as the model of the index sees it."""

    model_id: int
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Weights:
    """Of reciprocal rank fusion: how little the first places differ, and what a place by words counts, if one by
    meaning counts 1: see decision 0159."""

    rank: float = 2
    all_words: float = 0.5
    some_words: float = 0.1


_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The two lists, the best documents first: those with all words, then those with some; and those by meaning."""

    question: Question
    all_words: Sequence[int]
    some_words: Sequence[int]
    near: Sequence[asyncpg.Record]
    corrected: str | None = None


@dataclass(slots=True)
class Hit:
    """A document that was found, its score, and its places in the two lists; the chunk that is nearest."""

    id: int
    score: float = 0.0
    words_rank: int | None = None
    meaning_rank: int | None = None
    distance: float | None = None
    chunk: tuple[int, int] | None = None
    second: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """All hits, the best first; `corrected` is the question without the typing errors that it seems to have."""

    hits: list[Hit]
    question: Question
    corrected: str | None = None
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])


async def find(
    conn: Connection, question: Question, where: Filter, vector: Vector | None, *, words: bool = True
) -> Found:
    """Search what the connection's owner has; `vector` None: by words only, `words` False: by meaning only."""
    candidates = await find_candidates(conn, question, where, vector, words=words)
    return Found(merge(candidates), candidates.question, candidates.corrected)


async def find_candidates(
    conn: Connection, question: Question, where: Filter, vector: Vector | None, *, words: bool = True
) -> Candidates:
    """What `find` merges."""
    corrected: str | None = None
    every, some = await _by_words(conn, question, where) if words else ([], [])
    if words and not every and not some and (other := await _correct(conn, question)) is not None:
        question, corrected = other, other.words
        every, some = await _by_words(conn, question, where)
    near = (
        []
        if vector is None
        else await db.find_by_meaning(conn, vector.model_id, vector.values, where.to_json(question), MOST)
    )
    return Candidates(question, every, some, near, corrected)


async def _by_words(conn: Connection, question: Question, where: Filter) -> tuple[list[int], list[int]]:
    """Documents with all words, and if they are few, those with some, the best first."""
    if not question.words:
        return [], []
    given = where.to_json(question)
    every = await db.find_by_words(conn, question.words, given, MOST)
    if len(every) >= _FEW or " " not in question.words:
        return every, []
    some, known = await db.find_by_words(conn, question.words, given, MOST, some=True), set(every)
    return every, [each for each in some[: MOST - len(every)] if each not in known]


async def _correct(conn: Connection, question: Question) -> Question | None:
    words = question.single_words
    return question.corrected(await db.similar_words(conn, words)) if words else None


def merge(candidates: Candidates, weights: Weights = _WEIGHTS) -> list[Hit]:
    """All hits, the best first."""
    hits: dict[int, Hit] = {}
    by_words = [(number, weights.all_words) for number in candidates.all_words]
    by_words += [(number, weights.some_words) for number in candidates.some_words]
    for rank, (number, weight) in enumerate(by_words, 1):
        hits[number] = Hit(number, weight / (weights.rank + rank), words_rank=rank)
    for rank, row in enumerate((row for row in candidates.near if row["distance"] < _FAR), 1):
        hit = hits.setdefault(row["id"], Hit(row["id"]))
        hit.score += 1 / (weights.rank + rank)
        hit.meaning_rank, hit.distance = rank, row["distance"]
        hit.chunk, hit.second = (row["starts"], row["stops"]), row["second"]
    return sorted(hits.values(), key=lambda hit: (-hit.score, -hit.id))


async def find_similar(
    conn: Connection,
    kind: str,
    ref: str,
    where: Filter,
    model_id: int | None,
) -> list[Hit] | None:
    """Documents like this one; by its title, while no model has it. None if there is no such document."""
    known = await db.find_document(conn, kind, ref)
    if known is None:
        return None
    question, others = Question(""), Filter(where.kinds, where.tags, where.since, where.until, known["id"])
    mean = None if model_id is None else await db.document_vector(conn, known["id"], model_id)
    if mean is None or model_id is None:
        some = await db.find_by_words(conn, known["title"], others.to_json(), MOST, some=True)
        return merge(Candidates(question, [], some, []))
    return merge(Candidates(question, [], [], await db.find_by_meaning(conn, model_id, mean, others.to_json(), MOST)))
