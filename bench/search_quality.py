"""The quality of searches on a labelled set: the weights are chosen on some questions, and judged on others."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from bench import wordnet
from bench.harness import Context
from forebay.search import finding
from forebay.search.documents import Document, IndexJob, put_document
from forebay.search.embedding import embed_documents
from forebay.search.finding import Candidates, Filter, Vector, Weights, merge
from forebay.search.question import Question
from forebay.services.embeddings.local import DIMENSIONS, LocalModel

KIND = "noun"
PRESENT = Weights()
CHOICES = [
    Weights(rank, every, some)
    for rank, every, some in itertools.product((0, 2, 10, 60), (0.25, 0.5, 1.0), (0.0, 0.1, 0.3))
]


@dataclass(frozen=True)
class _Asked:
    """A question, what was found, and the names of the documents."""

    judged: wordnet.Judged
    found: Candidates


async def measure(context: Context, pool: asyncpg.Pool, model: LocalModel) -> None:
    """Everything is stored and embedded by the functions of the product, without its queue."""
    documents, chosen_on, held_out = wordnet.labelled(context.sizes.search_texts, context.sizes.search_questions)
    owner = int(await pool.fetchval("select forebay.owner_id('labelled')"))
    model_id = int(await pool.fetchval("select id from forebay.open_search_model($1, $2)", model.name, DIMENSIONS))
    for start in range(0, len(documents), 200):
        await _store(pool, owner, model, model_id, documents[start : start + 200])
    rows = await pool.fetch("select id, ref from forebay.search_document where owner_id = $1", owner)
    names = {row["id"]: row["ref"] for row in rows}
    seen = await _ask(pool, owner, model, model_id, chosen_on)
    best = max(CHOICES, key=lambda weights: _score(seen, names, weights))
    _report(context, await _ask(pool, owner, model, model_id, held_out), names, best, len(documents))
    chosen, present = (_score(seen, names, weights) for weights in (best, PRESENT))
    context.say(
        f"  on the questions that weights are chosen on: {chosen:.3f} by {best}, {present:.3f} by the present ones"
    )


async def _store(
    pool: asyncpg.Pool, owner: int, model: LocalModel, model_id: int, documents: Sequence[wordnet.Synset]
) -> None:
    async with pool.acquire() as conn, conn.transaction():
        ids: list[int] = []
        for each in documents:
            new = Document(KIND, each.key, each.words[0], each.gloss)
            ids.append((await put_document(conn, owner, new, IndexJob(submits=False))).id)
        for embedded in (await embed_documents(conn, model, model_id, ids)).values():
            if embedded.write is not None:
                await conn.execute(embedded.write.sql, *embedded.write.args)


async def _ask(
    pool: asyncpg.Pool, owner: int, model: LocalModel, model_id: int, judged: Sequence[wordnet.Judged]
) -> list[_Asked]:
    vectors = await model.embed([each.text for each in judged])
    asked: list[_Asked] = []
    async with pool.acquire() as conn, conn.transaction():
        await conn.execute("select set_config('forebay.owner_id', $1, true)", str(owner))
        for question, vector in zip(judged, vectors, strict=True):
            near = Vector(model_id, vector.tolist())
            found = await finding.find_candidates(conn, Question(question.text), Filter(kinds=(KIND,)), near)
            asked.append(_Asked(question, found))
    return asked


def _score(asked: Sequence[_Asked], names: dict[int, str], weights: Weights = PRESENT, *, lists: str = "both") -> float:
    """The mean nDCG@10."""
    total = 0.0
    for each in asked:
        hits = merge(_only(each.found, lists), weights)
        total += wordnet.ndcg([names[hit.id] for hit in hits[:10]], each.judged.grades)
    return total / len(asked)


def _only(found: Candidates, lists: str) -> Candidates:
    words, meaning = lists in {"both", "words"}, lists in {"both", "meaning"}
    return Candidates(
        found.question,
        found.all_words if words else [],
        found.some_words if words else [],
        found.near if meaning else [],
    )


def _report(context: Context, asked: Sequence[_Asked], names: dict[int, str], best: Weights, documents: int) -> None:
    both, chosen = _score(asked, names), _score(asked, names, best)
    words, meaning = (_score(asked, names, lists=each) for each in ("words", "meaning"))
    note = f"nDCG@10 of {len(asked)} questions that no weight was chosen on, over {documents:,} synsets of WordNet; "
    note += (
        f"by the weights that are best on {len(asked)} others ({best.rank:g}, {best.all_words}, {best.some_words}): "
    )
    note += f"{chosen:.3f}"
    context.record("search_hybrid_words", both, words, note)
    context.record("search_hybrid_meaning", both, meaning, note)
