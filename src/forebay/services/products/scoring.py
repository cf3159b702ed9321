"""Scores how well a candidate matches a row, from 0 to 1, with an explanation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError
from forebay.services.products.columns import FieldName
from forebay.services.products.gtins import same_gtin
from forebay.services.products.normalizing import Value
from forebay.services.products.texts import code, fold, words

if TYPE_CHECKING:
    from forebay.services.products.normalizing import Fields

_ALIKE = 0.78  # words with a lower similarity are different
MISSING = "comparing titles needs a package that is not installed: pip install 'forebay[sheets]'"
_SAME_NUMBER = 0.92  # minimum score with the same GTIN
_OTHER_NUMBER, _OTHER_BRAND, _OTHER_MODEL = 0.5, 0.6, 0.65  # maximum score with different GTINs
_NO_NAME = 0.4  # maximum score if neither a number nor a title could be compared
_FAR = math.log(4)  # a price that differs by this factor scores 0


class Candidate(BaseModel):
    """A candidate of a provider, with normalized fields."""

    model_config = ConfigDict(frozen=True)

    provider: str
    id: str | None = None
    fields: dict[FieldName, Value]


class ScorePart(BaseModel):
    """The score of one field: 1 for equal, 0 for different."""

    model_config = ConfigDict(frozen=True)

    field: FieldName
    value: float
    weight: float
    reason: str


class Score(BaseModel):
    """The score of a candidate, and its parts."""

    model_config = ConfigDict(frozen=True)

    value: float
    parts: list[ScorePart]

    @property
    def explanation(self) -> str:
        return "; ".join(part.reason for part in self.parts) or "nothing to compare"


class Scored(BaseModel):
    """A candidate with its score."""

    model_config = ConfigDict(frozen=True)

    candidate: Candidate
    score: Score


def rank(fields: Fields, candidates: Sequence[Candidate]) -> list[Scored]:
    """Candidates from best to worst; the order is stable."""
    scored = [Scored(candidate=each, score=score(fields, each)) for each in candidates]
    return sorted(scored, key=lambda each: -each.score.value)


def best(fields: Fields, candidates: Sequence[Candidate], least: float) -> Scored | None:
    """The best candidate, if its score is at least `least`."""
    first = next(iter(rank(fields, candidates)), None)
    return first if first is not None and first.score.value >= least else None


def score(fields: Fields, candidate: Candidate) -> Score:
    """Score a candidate by the fields that both have."""
    compared = (_gtin, _mpn, _sku, _title, _brand, _price)
    parts = [part for compare in compared if (part := compare(fields, candidate.fields)) is not None]
    weight = sum(part.weight for part in parts)
    mean = sum(part.value * part.weight for part in parts) / weight if weight else 0.0
    return Score(value=round(_bounded(mean, parts), 4), parts=parts)


def _bounded(mean: float, parts: Sequence[ScorePart]) -> float:
    """Numbers outweigh words: the same GTIN is the same product, another brand or model is not."""
    found = {part.field: part.value for part in parts}
    if found.get("gtin") == 1.0:
        is_likely = found.get("title", 1.0) >= 0.1 or found.get("brand", 0.0) > 0.5  # titles may be in other languages
        return max(mean, _SAME_NUMBER) if is_likely else mean
    most = 1.0
    if found.get("gtin") == 0.0:
        most = min(most, _OTHER_NUMBER)
    if found.get("mpn") == 0.0:
        most = min(most, _OTHER_MODEL)
    if found.get("brand") == 0.0:
        most = min(most, _OTHER_BRAND)
    if not {"gtin", "mpn", "sku", "title"} & set(found):
        most = min(most, _NO_NAME)
    return min(mean, most)


def _both(ours: Fields, theirs: Fields, name: FieldName) -> tuple[str, str] | None:
    if name not in ours or name not in theirs:
        return None
    return str(ours[name]), str(theirs[name])


def _gtin(ours: Fields, theirs: Fields) -> ScorePart | None:
    if (pair := _both(ours, theirs, "gtin")) is None:
        return None
    same = same_gtin(*pair)
    return ScorePart(field="gtin", value=float(same), weight=5.0, reason="same GTIN" if same else "another GTIN")


def _mpn(ours: Fields, theirs: Fields) -> ScorePart | None:
    if (pair := _both(ours, theirs, "mpn")) is None:
        return None
    same = code(pair[0]) == code(pair[1])
    return ScorePart(
        field="mpn", value=float(same), weight=3.0, reason="same part number" if same else "another part number"
    )


def _sku(ours: Fields, theirs: Fields) -> ScorePart | None:
    """Article numbers differ between shops: a different number means nothing."""
    if (pair := _both(ours, theirs, "sku")) is None or code(pair[0]) != code(pair[1]):
        return None
    return ScorePart(field="sku", value=1.0, weight=2.0, reason="same article number")


def _title(ours: Fields, theirs: Fields) -> ScorePart | None:
    if (pair := _both(ours, theirs, "title")) is None:
        return None
    value = round(similarity(*pair), 4)
    return ScorePart(field="title", value=value, weight=4.0, reason=f"titles {round(value * 100)} % alike")


def _brand(ours: Fields, theirs: Fields) -> ScorePart | None:
    if "brand" not in ours:
        return None
    brand, title = str(ours["brand"]), str(theirs.get("title", ""))
    if "brand" in theirs and _same_brand(brand, str(theirs["brand"])):
        return ScorePart(field="brand", value=1.0, weight=1.5, reason="same brand")
    if _holds(words(title), words(brand)):
        return ScorePart(field="brand", value=0.9, weight=1.5, reason="the brand is in the title")
    if "brand" not in theirs:
        return None
    return ScorePart(field="brand", value=0.0, weight=1.5, reason="another brand")


def _same_brand(one: str, other: str) -> bool:
    """Bosch equals Bosch GmbH, and Hewlett-Packard equals Hewlett Packard."""
    first, second = words(one), words(other)
    return code(one) == code(other) or _starts(first, second) or _starts(second, first)


def _starts(long: tuple[str, ...], short: tuple[str, ...]) -> bool:
    return bool(short) and long[: len(short)] == short


def _holds(text: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return bool(part) and any(text[at : at + len(part)] == part for at in range(len(text) - len(part) + 1))


def _price(ours: Fields, theirs: Fields) -> ScorePart | None:
    if (pair := _both(ours, theirs, "price")) is None:
        return None
    if ours.get("currency", "") != theirs.get("currency", ""):
        return None
    mine, other = Decimal(pair[0]), Decimal(pair[1])
    value = max(0.0, 1.0 - abs(math.log(float(other / mine))) / _FAR)
    percent = round(abs(other / mine - 1) * 100)
    reason = "same price" if percent == 0 else f"price {percent} % {'higher' if other > mine else 'lower'}"
    return ScorePart(field="price", value=round(value, 4), weight=0.75, reason=reason)


def similarity(one: str, other: str) -> float:
    """The similarity of two titles as sets of words, from 0 to 1.

    Additional words cost little; a different number, such as 256GB instead of 128GB, costs much.
    """
    first, second = _distinct(one), _distinct(other)
    if not first or not second:
        return 1.0 if fold(one) == fold(other) else 0.0
    forth, back = _covered(first, second), _covered(second, first)
    value = 0.65 * max(forth, back) + 0.35 * min(forth, back)
    return value * 0.6 if _numbers_clash(first, second) else value


@lru_cache(256)  # cached, because the row's title is compared with each candidate
def _distinct(title: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words(title)))


def _covered(these: tuple[str, ...], by: tuple[str, ...]) -> float:
    """The share of words with a similar word in the other title; long words and numbers have more weight."""
    weights = [1.0 + min(len(word), 8) / 8 + (0.5 if _has_digit(word) else 0.0) for word in these]
    exactly = set(by)
    likeness = [1.0 if word in exactly else _nearest(word, by) for word in these]
    return sum(weight * value for weight, value in zip(weights, likeness, strict=True)) / sum(weights)


def _nearest(word: str, others: tuple[str, ...]) -> float:
    """The similarity of the nearest word by edit distance; numbers are equal or not."""
    return 0.0 if _has_digit(word) else _likeness()(word, _without_digits(others))


@lru_cache(256)
def _without_digits(these: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in these if not _has_digit(word))


@cache
def _likeness() -> Callable[[str, Sequence[str]], float]:
    """Raises: ConfigError when the package is missing."""
    try:
        from rapidfuzz.distance import Indel  # noqa: PLC0415 - an extra
        from rapidfuzz.process import extractOne  # noqa: PLC0415
    except ImportError:
        raise ConfigError(MISSING) from None

    def likest(word: str, others: Sequence[str]) -> float:
        found = extractOne(word, others, scorer=Indel.normalized_similarity, score_cutoff=_ALIKE)
        return found[1] if found else 0.0

    return likest


@lru_cache(4096)
def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _numbers_clash(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether each has a number that the other lacks: probably variants."""
    mine, others = {word for word in first if _has_digit(word)}, {word for word in second if _has_digit(word)}
    return bool(mine - others) and bool(others - mine)
