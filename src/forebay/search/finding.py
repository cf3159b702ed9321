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
_RANK = 2  # of reciprocal rank fusion: how little the first places differ
# What a place by words counts, if one by meaning counts 1: see decision 0159.
_ALL_WORDS, _SOME_WORDS = 0.5, 0.1
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
    corrected: str | None = None
    by_words = await _by_words(conn, question, where) if words else {}
    if words and not by_words and (other := await _correct(conn, question)) is not None:
        question, corrected = other, other.words
        by_words = await _by_words(conn, question, where)
    near = (
        []
        if vector is None
        else await db.find_by_meaning(conn, vector.model_id, vector.values, where.to_json(question), MOST)
    )
    return Found(_merge(by_words, near), question, corrected)


async def _by_words(conn: Connection, question: Question, where: Filter) -> dict[int, float]:
    """What the places of documents count, the best document first."""
    if not question.words:
        return {}
    given = where.to_json(question)
    found = dict.fromkeys(await db.find_by_words(conn, question.words, given, MOST), _ALL_WORDS)
    if len(found) < _FEW and " " in question.words:
        some = await db.find_by_words(conn, question.words, given, MOST, some=True)
        found |= dict.fromkeys((each for each in some[: MOST - len(found)] if each not in found), _SOME_WORDS)
    return found


async def _correct(conn: Connection, question: Question) -> Question | None:
    words = question.single_words
    return question.corrected(await db.similar_words(conn, words)) if words else None


def _merge(by_words: Mapping[int, float], near: Sequence[asyncpg.Record]) -> list[Hit]:
    hits: dict[int, Hit] = {}
    for rank, (number, weight) in enumerate(by_words.items(), 1):
        hits[number] = Hit(number, weight / (_RANK + rank), words_rank=rank)
    for rank, row in enumerate((row for row in near if row["distance"] < _FAR), 1):
        hit = hits.setdefault(row["id"], Hit(row["id"]))
        hit.score += 1 / (_RANK + rank)
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
    others = Filter(where.kinds, where.tags, where.since, where.until, known["id"])
    mean = None if model_id is None else await db.document_vector(conn, known["id"], model_id)
    if mean is None or model_id is None:
        some = await db.find_by_words(conn, known["title"], others.to_json(), MOST, some=True)
        return _merge(dict.fromkeys(some, _SOME_WORDS), [])
    return _merge({}, await db.find_by_meaning(conn, model_id, mean, others.to_json(), MOST))
