"""Maps columns of a sheet to fields: by their names in many languages, and by their contents."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict

from forebay.errors import InvalidField
from forebay.services.products.currencies import CODES
from forebay.services.products.gtins import LENGTHS, read_gtin
from forebay.services.products.price_texts import read_currency
from forebay.services.products.prices import Mark, decimal_mark, read_price
from forebay.services.products.texts import Unreadable, clean, fold, shown, words

FieldName: TypeAlias = Literal[
    "title", "brand", "sku", "mpn", "gtin", "price", "currency", "quantity", "url", "image", "description", "category"
]
FIELDS: tuple[FieldName, ...] = get_args(FieldName)
SheetRow: TypeAlias = Mapping[str, object]

SAMPLE = 200  # rows of the sample
SURE, LIKELY, LEAST = 1.0, 0.6, 0.5
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif)(?:$|\?)", re.IGNORECASE)


def _name_key(text: str) -> str:
    return " ".join(words(_CAMEL.sub(" ", clean(text, 200)).replace("_", " ")))


def _names() -> dict[str, FieldName]:
    listed = tomllib.loads(Path(__file__).with_name("column_names.toml").read_text("utf-8"))
    return {_name_key(name): field for field in FIELDS for name in listed[field]}


_BY_NAME = _names()


class ColumnSuggestion(BaseModel):
    """A column for a field, with a score and the reason."""

    model_config = ConfigDict(frozen=True)

    field: FieldName
    column: str
    score: float
    reason: str


class Columns(BaseModel):
    """The column of each field, and the notation of numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: dict[FieldName, str]
    decimal_mark: Mark | None = None
    currency: str | None = None


def suggest(headers: Sequence[str], rows: Sequence[SheetRow]) -> list[ColumnSuggestion]:
    """The most likely column of each field, and each column for at most one field; in the order of the fields."""
    guesses = [
        guess
        for header in headers
        for guess in _guesses(header, [row.get(header) for row in rows[:SAMPLE]])
        if guess.score >= LEAST
    ]
    place = {header: at for at, header in enumerate(headers)}
    guesses.sort(key=lambda guess: (-guess.score, FIELDS.index(guess.field), place[guess.column]))
    found: dict[FieldName, ColumnSuggestion] = {}
    taken: set[str] = set()
    for guess in guesses:
        if guess.field not in found and guess.column not in taken:
            found[guess.field] = guess
            taken.add(guess.column)
    return [found[field] for field in FIELDS if field in found]


def choose_columns(
    headers: Sequence[str],
    rows: Sequence[SheetRow],
    given: Mapping[str, str | None] | None = None,
    *,
    mark: Mark | None = None,
    currency: str | None = None,
    given_as: str = "mapping",
) -> Columns:
    """The given columns, and suggestions for other fields and columns.

    A field with None has no column. `given_as` is what the caller calls `given`, for errors.

    Raises: InvalidField.
    """
    chosen = _checked(given or {}, headers, given_as)
    named = {column for column in chosen.values() if column is not None}
    free = [header for header in headers if header not in named]
    suggested = {each.field: each.column for each in suggest(free, rows) if each.field not in chosen}
    fields: dict[FieldName, str] = {}
    for field in FIELDS:
        column = chosen.get(field, suggested.get(field))
        if column is not None:
            fields[field] = column
    prices = [row.get(fields["price"]) for row in rows[:SAMPLE]] if "price" in fields else []
    return Columns(
        fields=fields,
        decimal_mark=mark or decimal_mark(each for each in prices if isinstance(each, str)),
        currency=_checked_currency(currency),
    )


def _checked(given: Mapping[str, str | None], headers: Sequence[str], given_as: str) -> dict[FieldName, str | None]:
    known: dict[str, FieldName] = {field: field for field in FIELDS}
    for field, column in given.items():
        if field not in known:
            raise InvalidField(f"{given_as}.{field}", f"is not a field; the fields are {', '.join(FIELDS)}")
        if column is not None and column not in headers:
            names = ", ".join(shown(header, 30) for header in headers[:20])
            raise InvalidField(f"{given_as}.{field}", f"names the column {shown(column)}; the columns are {names}")
    chosen: dict[FieldName, str | None] = {known[field]: column for field, column in given.items()}
    return chosen


def _checked_currency(currency: str | None) -> str | None:
    try:
        return None if currency is None else read_currency(currency)
    except Unreadable as error:
        raise InvalidField("currency", str(error)) from None


def _guesses(header: str, values: Sequence[object]) -> Iterable[ColumnSuggestion]:
    named, score, reason = _by_name(header)
    texts = [value for value in values if clean(value, 200)]
    if named is not None:
        doubt = _doubt(named, texts)
        yield ColumnSuggestion(field=named, column=header, score=score - (0.3 if doubt else 0), reason=doubt or reason)
    for field, holds, least, score_of_content in _HINTS:
        share = sum(map(holds, texts)) / len(texts) if texts else 0.0
        if field != named and share >= least:
            percent = f"{round(share * 100)} % of the values look like it"
            yield ColumnSuggestion(field=field, column=header, score=score_of_content, reason=percent)


def _by_name(header: str) -> tuple[FieldName | None, float, str]:
    key = _name_key(header)
    if field := _BY_NAME.get(key) or _BY_NAME.get(key.replace(" ", "")):
        return field, SURE, f"{shown(header)} is a name of it"
    parts = key.split()
    for size in range(min(len(parts), 4), 0, -1):
        for at in range(len(parts) - size, -1, -1):  # the last word is the most important, except in Romance languages
            part = " ".join(parts[at : at + size])
            if part in _BY_NAME:
                return _BY_NAME[part], LIKELY + 0.05 * size, f"{shown(header)} contains {shown(part)}"
    return None, 0.0, ""


def _doubt(field: FieldName, values: Sequence[object]) -> str | None:
    holds = {"gtin": _is_gtin, "price": _is_price, "currency": _is_currency, "url": _is_url, "image": _is_url}.get(
        field
    )
    if holds is None or not values or sum(map(holds, values)) * 5 >= len(values):
        return None
    return "has that name, but few values match"


def _is_gtin(value: object) -> bool:
    try:
        read_gtin(value)
    except Unreadable:
        return False
    return True


def _is_full_gtin(value: object) -> bool:
    text = clean(value, 50)
    return text.isdecimal() and len(text) in LENGTHS[1:] and _is_gtin(text)


def _is_price(value: object) -> bool:
    try:
        read_price(value)
    except Unreadable:
        return False
    return True


def _is_price_with_currency(value: object) -> bool:
    try:
        return isinstance(value, str) and read_price(value).is_plain
    except Unreadable:
        return False


def _is_currency(value: object) -> bool:
    text = clean(value, 20)  # case-sensitive: some codes are also words
    return text in CODES or fold(text) in {"€", "$", "£", "¥"}


def _is_url(value: object) -> bool:
    return clean(value, 20).lower().startswith(("http://", "https://", "www."))


def _is_image(value: object) -> bool:
    return _is_url(value) and _IMAGE.search(clean(value)) is not None


def _is_page(value: object) -> bool:
    return _is_url(value) and not _is_image(value)


# Fields that can be recognised by content: field, test, minimum share of the values, score.
_HINTS: tuple[tuple[FieldName, Callable[[object], bool], float, float], ...] = (
    ("gtin", _is_full_gtin, 0.6, 0.9),
    ("price", _is_price_with_currency, 0.6, 0.8),
    ("currency", _is_currency, 0.9, 0.7),
    ("image", _is_image, 0.6, 0.75),
    ("url", _is_page, 0.6, 0.55),
)
