"""Normalizes the fields of a row, and reports values that were refused or corrected, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict

from forebay.services.egress.errors import InvalidUrl
from forebay.services.egress.urls import checked_url
from forebay.services.products.columns import FIELDS, Columns, FieldName, SheetRow
from forebay.services.products.gtins import read_gtin
from forebay.services.products.price_texts import one_of, read_currency_text
from forebay.services.products.prices import read_price, read_quantity
from forebay.services.products.texts import Unreadable, clean, shown, words

if TYPE_CHECKING:
    from forebay.services.products.prices import Mark, Price

Value: TypeAlias = str | int
Fields: TypeAlias = Mapping[FieldName, Value]
# Rows that earlier versions normalized still say "mended".
ProblemKind: TypeAlias = Annotated[
    Literal["refused", "corrected"], BeforeValidator(lambda kind: "corrected" if kind == "mended" else kind)
]

_LONGEST: dict[FieldName, int] = {
    "title": 500,
    "brand": 120,
    "sku": 120,
    "mpn": 120,
    "category": 300,
    "description": 5000,
}
_NOTHING = {"", "-", "--", "n/a", "n.a.", "na", "#n/a", "#ref!", "#value!", "#name?", "null", "none", "nan", "nil", "?"}
_NO_BRAND = {"unbranded", "no brand", "generic", "ohne marke", "sans marque", "sin marca", "not applicable"}


class FieldProblem(BaseModel):
    """What is wrong with a value: it was refused and left out, or corrected and kept."""

    model_config = ConfigDict(frozen=True)

    field: FieldName
    kind: ProblemKind
    reason: str
    column: str | None = None


class Normalized(BaseModel):
    """The normalized fields of a row; prices are decimal texts, quantities integers, all others texts."""

    model_config = ConfigDict(frozen=True)

    fields: dict[FieldName, Value]
    problems: list[FieldProblem]


def normalize(row: SheetRow, columns: Columns) -> Normalized:
    """Normalize a row. The result is deterministic, and an invalid value does not affect the others."""
    return _Reading(row, columns).read()


def identity(fields: Mapping[FieldName, object], currency: str | None = None) -> Normalized:
    """The same for values with known fields, as those of a provider; the decimal mark is a point."""
    row: dict[str, object] = {str(field): value for field, value in fields.items()}
    return normalize(row, Columns(fields={field: field for field in fields}, decimal_mark=".", currency=currency))


class _Reading:
    """Reads one row; the currency is read before the price, which may need it."""

    def __init__(self, row: SheetRow, columns: Columns) -> None:
        self._row = row
        self._columns = columns
        self._fields: dict[FieldName, Value] = {}
        self._problems: list[FieldProblem] = []
        self._stated: tuple[str, ...] = ()  # the possible currencies of the row

    def read(self) -> Normalized:
        for field in _ORDER:
            self._take(field)
        ordered: dict[FieldName, Value] = {field: self._fields[field] for field in FIELDS if field in self._fields}
        return Normalized(fields=ordered, problems=self._problems)

    def _take(self, field: FieldName) -> None:
        column = self._columns.fields.get(field)
        value = None if column is None else self._row.get(column)
        if clean(value, 20).lower() in _NOTHING:
            return
        try:
            _READERS.get(field, _Reading.text)(self, field, value)
        except Unreadable as error:
            self._say(field, "refused", str(error))

    def _say(self, field: FieldName, kind: ProblemKind, reason: str) -> None:
        column = self._columns.fields.get(field)
        self._problems.append(FieldProblem(field=field, kind=kind, reason=reason, column=column))

    def text(self, field: FieldName, value: object) -> None:
        longest = _LONGEST[field]
        text = clean(value, longest + 1)
        if len(text) > longest:
            self._say(field, "corrected", f"was truncated after {longest} characters")
        self._fields[field] = text[:longest].rstrip()

    def title(self, field: FieldName, value: object) -> None:
        if not words(clean(value)):
            raise Unreadable(f"{shown(clean(value))} has no words")
        self.text(field, value)

    def brand(self, field: FieldName, value: object) -> None:
        if clean(value, 40).lower() not in _NO_BRAND:
            self.text(field, value)

    def number(self, field: FieldName, value: object) -> None:
        """Article numbers keep their spelling; an apostrophe or =\"\" from a spreadsheet is removed."""
        text = clean(value, _LONGEST[field]).removeprefix("=").strip("'\" ")
        if not text:
            raise Unreadable("is empty")
        self._fields[field] = text

    def gtin(self, field: FieldName, value: object) -> None:
        found = read_gtin(value)
        self._fields[field] = found.digits
        if found.corrected:
            self._say(field, "corrected", found.corrected)

    def currency(self, field: FieldName, value: object) -> None:
        """Keep all possible currencies until the price is read."""
        text = clean(value, 200)
        found = read_currency_text(text)
        self._stated = found.codes
        code = found.currency(self._columns.currency)
        if code is None:
            raise Unreadable(f"{shown(text)} may be {one_of(found.codes)}: write the code")
        if any(map(str.isdigit, text)) or found.ignored:
            self._say(field, "corrected", f"{shown(text)} contains more than the currency; {code} was used")
        self._fields[field] = code

    def price(self, field: FieldName, value: object) -> None:
        named = self._fields.get("currency", self._columns.currency)
        stated = str(named) if named else None
        price = read_price(value, mark=self._mark, currency=stated)
        if price.guessed:
            self._say(field, "corrected", price.guessed)
        currency = self._agreed(price, stated)
        self._fields[field] = price.text(currency)
        if currency:
            self._fields["currency"] = currency

    def _agreed(self, price: Price, stated: str | None) -> str | None:
        """The currency that fits the column and the price; the column takes precedence."""
        if not price.codes:
            return stated
        if not self._stated:
            if stated and stated not in price.codes:
                why = f"says {one_of(price.codes)}, which was kept; the currency of the whole sheet is {stated}"
                self._say("price", "corrected", why)
            return price.currency
        common = [code for code in self._stated if code in price.codes]
        if not common:
            why = f"is {stated}, but the price says {one_of(price.codes)}; {stated} was kept"
            self._say("currency", "corrected", why)
            return stated
        return stated if stated in common else common[0]

    @property
    def _mark(self) -> Mark | None:
        return self._columns.decimal_mark

    def quantity(self, field: FieldName, value: object) -> None:
        self._fields[field] = read_quantity(value, mark=self._mark)

    def url(self, field: FieldName, value: object) -> None:
        text = clean(value, 8192)
        bare = "://" not in text and "." in text.partition("/")[0]
        try:
            self._fields[field] = str(checked_url(f"https://{text}" if bare else text))
        except InvalidUrl as error:
            raise Unreadable(error.reason) from None
        if bare:
            self._say(field, "corrected", "has no https:// before it")


_READERS: dict[FieldName, Callable[[_Reading, FieldName, object], None]] = {
    "title": _Reading.title,
    "brand": _Reading.brand,
    "sku": _Reading.number,
    "mpn": _Reading.number,
    "gtin": _Reading.gtin,
    "currency": _Reading.currency,
    "price": _Reading.price,
    "quantity": _Reading.quantity,
    "url": _Reading.url,
    "image": _Reading.url,
}
_ORDER: tuple[FieldName, ...] = (
    "title", "brand", "sku", "mpn", "gtin", "currency", "price", "quantity", "url", "image", "description", "category",
)  # fmt: skip
