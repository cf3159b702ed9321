"""The demo of articles: three short texts about water."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.pipelines.articles import texts
from forebay.pipelines.articles.db import ArticleValues, Embedding, create_in, find_slug
from forebay.services import embeddings

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.settings import Settings

_ARTICLES = {
    "What a forebay is": "A forebay is the pool in front of a turbine. It takes the water as it comes, and gives it "
    "away at the rate that the machine can use.\n\n## Why it is there\n\nRivers rise and fall within hours. Without "
    "the pool, the machine would run dry in one hour and be flooded in the next.",
    "Letting boats climb": "A lock lifts a boat from one level of a canal to another. Its gates close, water flows in "
    "from above, and the boat rises with it. Nothing is pumped: the height of the upper reach does the work.",
    "A wall that fish can pass": "A weir holds a river back, and fish cannot jump over a high one. So a ladder of "
    "small pools is built beside it. Each step is low enough for a trout, and slow enough to rest in.",
}


async def submit_demo(conn: Connection, settings: Settings, owner: str) -> str | None:
    """Save the articles, unless they are there."""
    from forebay.cli._pipelines import make_known  # noqa: PLC0415 - only the first start needs all this
    from forebay.identity import owners  # noqa: PLC0415
    from forebay.pipelines.articles.steps import articles  # noqa: PLC0415

    await make_known(conn, settings, articles)
    owner_id = await owners.make(conn, owner)
    embedding = Embedding(is_queued=embeddings.is_on(settings))
    async with conn.transaction():
        for title, content in _ARTICLES.items():
            slug = texts.slug_of(title)
            if await find_slug(conn, owner_id, slug) is None:
                excerpt, words = texts.excerpt_of(content, title), texts.count_words(content)
                new = ArticleValues(title, content, slug, slug, excerpt=excerpt, words=words)
                await create_in(conn, "none", owner_id, None, new, embedding)
    return f"{len(_ARTICLES)} articles to search by meaning"
