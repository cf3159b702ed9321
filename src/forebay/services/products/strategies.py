"""The strategies of a lookup, in order, and which of them an attempt uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from forebay.services.products.columns import FieldName
from forebay.services.products.texts import clean, fold, words

if TYPE_CHECKING:
    from forebay.services.products.normalizing import Fields

_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_LONGEST = 200
_FUZZY_WORDS = 6
_FILLERS = {
    "the", "a", "an", "and", "or", "of", "for", "with", "without", "in", "on", "by", "from", "new", "original",
    "genuine", "der", "die", "das", "und", "oder", "fur", "mit", "ohne", "von", "aus", "neu", "le", "la", "les",
    "et", "ou", "de", "des", "du", "pour", "avec", "sans", "neuf", "el", "los", "las", "y", "o", "para", "con",
    "sin", "nuevo", "il", "lo", "gli", "e", "per", "senza", "nuovo", "een", "het", "en", "voor", "met", "zonder",
    "van", "nieuw", "os", "as", "com", "sem", "novo",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Strategy:
    """A kind of query: the fields that it needs, and whether the title is reduced to its key words."""

    name: str
    needs: tuple[FieldName, ...]
    is_fuzzy: bool = False

    def query(self, fields: Fields) -> Query | None:
        """The query for a row; None when the row lacks a required field."""
        values: dict[FieldName, str] = {name: clean(fields.get(name), _LONGEST) for name in self.needs}
        if self.is_fuzzy:
            values["title"] = key_words(values["title"])
        return Query(self.name, values) if all(values.values()) else None


@dataclass(frozen=True, slots=True)
class Query:
    """A query by one strategy, with its values."""

    strategy: str
    values: dict[FieldName, str]

    @property
    def text(self) -> str:
        """The values on one line, for services with a single search field; the brand is not repeated."""
        brand, title = self.values.get("brand", ""), self.values.get("title", "")
        if brand and fold(brand) in fold(title):
            brand = ""
        others = [value for name, value in self.values.items() if name not in {"brand", "title"}]
        return " ".join(filter(None, [brand, title, *others]))


STRATEGIES: tuple[Strategy, ...] = (
    Strategy("gtin", ("gtin",)),
    Strategy("mpn_brand", ("mpn", "brand")),
    Strategy("sku", ("sku",)),
    Strategy("title_brand", ("title", "brand")),
    Strategy("title", ("title",)),
    Strategy("fuzzy_title", ("title",), is_fuzzy=True),
)
NAMES: tuple[str, ...] = tuple(strategy.name for strategy in STRATEGIES)
BY_NAME = {strategy.name: strategy for strategy in STRATEGIES}


class QueriedProvider(Protocol):
    """The properties of a provider that matter here."""

    @property
    def name(self) -> str: ...
    @property
    def strategies(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class ProviderQuery:
    """A query to a provider."""

    provider: str
    query: Query


def key_words(title: str) -> str:
    """The most specific words of a title, without parentheses and filler words; words with digits come first."""
    bare = _ASIDE.sub(" ", title)
    listed = [word for word in dict.fromkeys((bare if words(bare) else title).split()) if words(word)]
    informative = [word for word in listed if fold(word) not in _FILLERS] or listed
    by_worth = sorted(range(len(informative)), key=lambda at: (not any(map(str.isdigit, informative[at])), at))
    kept = sorted(by_worth[:_FUZZY_WORDS]) if len(informative) > _FUZZY_WORDS else range(len(informative))
    return " ".join(informative[at].strip(".,;:!?\"'|/-") for at in kept)


def ranked(
    providers: Iterable[QueriedProvider], priority: Sequence[str] = (), rotation: int = 0
) -> list[QueriedProvider]:
    """Providers in the order of queries: those of `priority` first.

    Without a priority, each `rotation`, which a reprocess increments, starts with another provider.
    """
    listed = list(providers)
    if priority:
        place = {name: at for at, name in enumerate(priority)}
        return sorted(listed, key=lambda each: place.get(each.name, len(place)))
    shift = rotation % len(listed) if listed else 0
    return listed[shift:] + listed[:shift]


def rounds(fields: Fields, providers: Sequence[QueriedProvider]) -> list[list[ProviderQuery]]:
    """All possible queries for a row: one round per strategy, with the providers in order.

    A round without new queries is left out.
    """
    made: list[list[ProviderQuery]] = []
    seen: set[tuple[str, tuple[tuple[FieldName, str], ...]]] = set()
    for strategy in STRATEGIES:
        query = strategy.query(fields)
        if query is None:
            continue
        able = [each.name for each in providers if strategy.name in each.strategies]
        fresh = [name for name in able if (name, _key(query)) not in seen]
        seen.update((name, _key(query)) for name in fresh)
        if fresh:
            made.append([ProviderQuery(name, query) for name in fresh])
    return made


def _key(query: Query) -> tuple[tuple[FieldName, str], ...]:
    return tuple((name, fold(value)) for name, value in query.values.items())


def asks(
    all_rounds: Sequence[Sequence[ProviderQuery]], nothing: int, attempts: int, *, is_last: bool
) -> list[ProviderQuery]:
    """The queries of an attempt, after `nothing` attempts without a match.

    Rounds are distributed in order: a failed attempt repeats its share, and the last attempt has all remaining rounds.
    With more attempts than rounds, the first rounds are repeated.
    """
    count = len(all_rounds)
    if count == 0:
        return []
    parts = min(max(attempts, 1), count)
    share = nothing % parts
    end = parts if is_last and nothing < parts else share + 1
    chosen = all_rounds[share * count // parts : end * count // parts]
    return [ask for round_ in chosen for ask in round_]
