"""How a row is looked up: ways to ask, in order, and which of them an attempt takes."""

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
    """A way to ask: what it needs of a row, and whether the title is boiled down to its telling words."""

    name: str
    needs: tuple[FieldName, ...]
    is_fuzzy: bool = False

    def query(self, fields: Fields) -> Query | None:
        """The question for a row; None when the row lacks what is needed."""
        values: dict[FieldName, str] = {name: clean(fields.get(name), _LONGEST) for name in self.needs}
        if self.is_fuzzy:
            values["title"] = telling_words(values["title"])
        return Query(self.name, values) if all(values.values()) else None


@dataclass(frozen=True, slots=True)
class Query:
    """A question by one strategy, with the values that it is asked by."""

    strategy: str
    values: dict[FieldName, str]

    @property
    def text(self) -> str:
        """All of it in one line, for services with a single field to search by; the brand stands there once."""
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


class Asked(Protocol):
    """What is known of a provider here."""

    @property
    def name(self) -> str: ...
    @property
    def strategies(self) -> Collection[str]: ...


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one provider."""

    provider: str
    query: Query


def telling_words(title: str) -> str:
    """The few words of a title that tell it apart: no asides, no fillers; those with digits are kept first."""
    bare = _ASIDE.sub(" ", title)
    listed = [word for word in dict.fromkeys((bare if words(bare) else title).split()) if words(word)]
    telling = [word for word in listed if fold(word) not in _FILLERS] or listed
    by_worth = sorted(range(len(telling)), key=lambda at: (not any(map(str.isdigit, telling[at])), at))
    kept = sorted(by_worth[:_FUZZY_WORDS]) if len(telling) > _FUZZY_WORDS else range(len(telling))
    return " ".join(telling[at].strip(".,;:!?\"'|/-") for at in kept)


def ranked(providers: Iterable[Asked], priority: Sequence[str] = (), turn: int = 0) -> list[Asked]:
    """Providers in the order in which they are asked: those of `priority` first.

    Without a priority, each `turn` (a reprocess is one) lets another provider be the first.
    """
    listed = list(providers)
    if priority:
        place = {name: at for at, name in enumerate(priority)}
        return sorted(listed, key=lambda each: place.get(each.name, len(place)))
    shift = turn % len(listed) if listed else 0
    return listed[shift:] + listed[:shift]


def rounds(fields: Fields, providers: Sequence[Asked]) -> list[list[Ask]]:
    """All questions that a row allows: a round for each strategy, in which the providers are asked in their order.

    A round that would ask no provider anything new is left out.
    """
    made: list[list[Ask]] = []
    seen: set[tuple[str, tuple[tuple[FieldName, str], ...]]] = set()
    for strategy in STRATEGIES:
        query = strategy.query(fields)
        if query is None:
            continue
        able = [each.name for each in providers if strategy.name in each.strategies]
        fresh = [name for name in able if (name, _key(query)) not in seen]
        seen.update((name, _key(query)) for name in fresh)
        if fresh:
            made.append([Ask(name, query) for name in fresh])
    return made


def _key(query: Query) -> tuple[tuple[FieldName, str], ...]:
    return tuple((name, fold(value)) for name, value in query.values.items())


def asks(all_rounds: Sequence[Sequence[Ask]], nothing: int, attempts: int, *, is_last: bool) -> list[Ask]:
    """The questions of an attempt before which `nothing` times nothing was found, of so many attempts.

    Rounds are dealt out in order: an attempt that failed has its share asked again, and the last one asks all that is
    left, so that none is left out. When there are more attempts than rounds, the first come round again.
    """
    count = len(all_rounds)
    if count == 0:
        return []
    parts = min(max(attempts, 1), count)
    share = nothing % parts
    end = parts if is_last and nothing < parts else share + 1
    chosen = all_rounds[share * count // parts : end * count // parts]
    return [ask for round_ in chosen for ask in round_]
