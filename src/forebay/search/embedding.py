"""Embeds documents: reads their texts, cuts them into chunks, and embeds those that the model does not have yet.

The result is a statement for each document, which the step that calls this returns with its outcome: it is written in
the transaction that settles the step, and only if the model has no newer version of the document by then.
"""

from __future__ import annotations

import asyncio
import bisect
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forebay.search import db
from forebay.services.chunking import Chunk, chunk_text
from forebay.types import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import asyncpg
    import numpy as np
    from numpy.typing import NDArray

    from forebay.db.pool import Connection, Pool
    from forebay.services.embeddings.model import Model

_TITLE_CHARACTERS = 120  # of the title, which is embedded with every chunk
_MARKS = 8  # tokens of a chunk besides its title and text: those of begin and end, and some where tokens are estimated
_OVERLAP_SHARE = 9  # of the tokens of a model: one in so many may repeat the chunk before
_MOST_CHUNKS = 2000  # of one document; the rest of its text is found by words


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result for a document; `write` is None if there is nothing to write."""

    document_id: int
    version: int
    chunks: int
    new: int  # chunks that were embedded
    write: Statement | None


@dataclass(frozen=True, slots=True)
class _Cut:
    """A document with its chunks."""

    row: asyncpg.Record
    chunks: list[Chunk]
    context: str
    new: list[int]  # places of those that are not stored yet


async def embed_documents(
    conn: Connection | Pool, model: Model, model_id: int, ids: Sequence[int]
) -> dict[int, Embedded]:
    """Embed the present versions of documents by one model, all changed chunks together; documents that are deleted, or
    are not to be embedded, are missing in the result, unless they have vectors, which are deleted.

    `model_id` is that of the model in the index: see `models.open_models`.

    Raises: what `Model.embed` raises.
    """
    read = await db.read_documents(conn, ids, model_id)
    rows = [row for row in read if row["embeds"]]
    current = {row["id"]: row for row in rows if row["indexed_version"] == row["version"]}
    todo = [row for row in rows if row["id"] not in current]
    known = await db.read_hashes(conn, [row["id"] for row in todo], model_id) if todo else {}
    cuts = await asyncio.to_thread(_cut_all, model, todo, known)
    texts = [_embedded_text(cut, place) for cut in cuts for place in cut.new]
    vectors = await model.embed(texts) if texts else None
    done = {number: Embedded(number, row["version"], 0, 0, None) for number, row in current.items()}
    done |= {row["id"]: _forgotten(row, model_id) for row in read if not row["embeds"] and row["indexed_version"]}
    first = 0
    for cut in cuts:
        own = None if vectors is None else vectors[first : first + len(cut.new)]
        done[cut.row["id"]] = _embedded(cut, model, model_id, own)
        first += len(cut.new)
    return done


def _forgotten(row: asyncpg.Record, model_id: int) -> Embedded:
    """A document that is no longer to be embedded."""
    return Embedded(row["id"], row["version"], 0, 0, Statement(db.load("forget_chunks"), (row["id"], model_id)))


def _cut_all(model: Model, rows: Sequence[asyncpg.Record], known: Mapping[int, set[bytes]]) -> list[_Cut]:
    cuts: list[_Cut] = []
    for row in rows:
        context = " ".join(row["title"].split())[:_TITLE_CHARACTERS]
        budget = max(model.max_tokens - sum(model.count_tokens([context])) - _MARKS, model.max_tokens // 2)
        overlap = model.max_tokens // _OVERLAP_SHARE
        found = chunk_text(row["body"], model.count_tokens, budget=budget, overlap=overlap, context=context)
        if not found and context:
            found = chunk_text(context, model.count_tokens, budget=budget, context="title")[:1]
            found = [Chunk(0, 0, each.hash) for each in found]
        found = found[:_MOST_CHUNKS]
        new = [place for place, chunk in enumerate(found) if chunk.hash not in known[row["id"]]]
        cuts.append(_Cut(row, found, context, new))
    return cuts


def _embedded_text(cut: _Cut, place: int) -> str:
    chunk = cut.chunks[place]
    text = cut.row["body"][chunk.start : chunk.stop]
    return f"{cut.context}\n{text}" if cut.context and text else text or cut.context


def _embedded(cut: _Cut, model: Model, model_id: int, vectors: NDArray[np.float32] | None) -> Embedded:
    places = [0] * len(cut.chunks)
    for number, place in enumerate(cut.new, 1):
        places[place] = number
    marks: list[tuple[int, float]] = json.loads(cut.row["marks"]) if cut.row["marks"] else []
    args: tuple[Any, ...] = (
        cut.row["id"],
        model_id,
        cut.row["version"],
        [chunk.hash for chunk in cut.chunks],
        [chunk.start for chunk in cut.chunks],
        [chunk.stop for chunk in cut.chunks],
        [second_at(marks, chunk.start) for chunk in cut.chunks],
        places,
        [] if vectors is None else vectors.ravel().tolist(),
        model.dimensions,
    )
    write = Statement(db.load("write_chunks"), args)
    return Embedded(cut.row["id"], cut.row["version"], len(cut.chunks), len(cut.new), write)


def second_at(marks: Sequence[Sequence[float]], offset: int) -> float | None:
    """The second of a recording in which the text at an offset is said; None before the first mark."""
    place = bisect.bisect_right([mark[0] for mark in marks], offset)
    return float(marks[place - 1][1]) if place else None
