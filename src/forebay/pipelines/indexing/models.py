"""The requests and responses of searches."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from forebay.api.models import FromJson, Id, Model, Strict
from forebay.packages import search_sources
from forebay.search.finding import Mode
from forebay.search.snippets import parts_of, second_of

if TYPE_CHECKING:
    import asyncpg

    from forebay.hooks import SearchKind
    from forebay.search.finding import Hit


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
Tags = Annotated[list[Annotated[Text, Field(min_length=1, max_length=200)]], Field(max_length=20)]


class TextPart(Model):
    text: str
    found: bool = Field(description="whether it is one of the words that were looked for")


class SearchHit(Model):
    kind: str
    ref: str = Field(description="what its pipeline calls it")
    title: list[TextPart]
    snippet: list[TextPart]
    path: str | None = Field(description="its page in the web app")
    url: str | None
    tags: list[str]
    language: str | None
    written_at: datetime
    second: float | None = Field(description="where to jump to in a recording")
    details: FromJson
    score: float
    by_words: int | None = Field(description="its place in the list by words")
    by_meaning: int | None = Field(description="its place in the list by meaning")
    is_stale: bool = Field(description="its text is newer than what the search by meaning knows of it")
    indexed_at: datetime | None


class KindCount(Model):
    kind: str
    title: str
    count: int


class SearchPage(Model):
    hits: list[SearchHit]
    kinds: list[KindCount] = Field(description="how many hits there are of each kind, whichever kind is selected")
    mode: Mode = Field(description="how it was searched: by words, if searching by meaning is not possible now")
    corrected: str | None = Field(description="what was looked for instead, because of a typing error")
    notes: list[str]
    next: str | None


class SearchQuestion(Strict):
    """A question with its filters, as `GET /api/search` takes them."""

    q: Text = Field(min_length=1, max_length=400)
    mode: Mode = "both"
    kinds: list[Text] = Field(default=[], max_length=20)
    tags: Tags = Field(default=[])


class NewSavedSearch(Strict):
    name: Text = Field(min_length=1, max_length=200)
    question: SearchQuestion


class SavedSearch(Model):
    id: Id
    name: str
    question: FromJson
    has_feed: bool
    created_at: datetime


class FeedAddress(Model):
    """The address of the feed, which is shown only once: whoever has it can read the feed."""

    url: str


def known_kinds() -> dict[str, SearchKind]:
    """The kinds that packages have, by name."""
    return {kind.name: kind for source in search_sources() for kind in source.kinds}


def hit_of(row: asyncpg.Record, hit: Hit, kinds: dict[str, SearchKind]) -> SearchHit:
    kind = kinds.get(row["kind"])
    second = second_of(row["marks"], row["headline_at"])
    if second is None:
        second = hit.second  # that of the chunk
    path = None if kind is None else kind.path.replace("{ref}", row["ref"])
    if path is not None and kind is not None and kind.timed and second is not None:
        path = f"{path}?t={int(second)}"
    snippet = row["headline"] if row["headline"] is not None else row["excerpt"]
    plain = None if kind is None else kind.plain
    return SearchHit(
        kind=row["kind"],
        ref=row["ref"],
        title=_parts(row["title_headline"]),
        snippet=_parts(snippet if plain is None else plain(snippet)),
        path=path,
        url=row["url"],
        tags=row["tags"],
        language=row["language"],
        written_at=row["written_at"],
        second=second,
        details=row["details"],
        score=hit.score,
        by_words=hit.words_rank,
        by_meaning=hit.meaning_rank,
        is_stale=row["embeds"] and row["indexed_version"] is not None and row["indexed_version"] < row["version"],
        indexed_at=row["indexed_at"],
    )


def _parts(marked: str) -> list[TextPart]:
    return [TextPart(text=text, found=found) for text, found in parts_of(marked)]
