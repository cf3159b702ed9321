"""Prices and currencies of price-parser's and monetize's tests, read as a row's price and currency."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bench.detection.score import Corpora, Score
from forebay.services.products import Columns, normalize

# By set: the bar, and the aim. Sets without one are for information.
_AMOUNT_BARS = {"price-parser": (0.95, 0.98)}
_WRONG_BARS = {"price-parser": 0.002}
_CURRENCY_BARS = {"price-parser": (0.95, 0.98), "to be added": (0.8, None)}
_COLUMNS = Columns(fields={"price": "price", "currency": "currency"})
Case = dict[str, Any]


@dataclass(frozen=True)
class _Read:
    case: Case
    amount: Decimal | None
    currency: str | None

    @property
    def is_amount_right(self) -> bool:
        """A price of zero is refused: it stands for one that is not known."""
        wanted = self._wanted or None
        return self.amount == wanted

    @property
    def is_amount_wrong(self) -> bool:
        return self.amount is not None and self.amount != self._wanted

    @property
    def is_currency_right(self) -> bool:
        """A symbol of several currencies has several right answers."""
        return self.currency in self.case["iso"]

    @property
    def _wanted(self) -> Decimal | None:
        amount = self.case["amount"]
        return None if amount is None else Decimal(amount)


def measure(corpora: Corpora) -> list[Score]:
    cases: list[Case] = json.loads((corpora.cases / "prices" / "cases.json").read_text("utf-8"))
    sets: dict[str, list[_Read]] = {}
    for case in cases:
        sets.setdefault(_set_of(case), []).append(_read(case))
    found = [*_scores("price-parser", sets), *_scores("to be added", sets), *_scores("xfail", sets)]
    return [*found, *_scores("monetize", sets), *_scores("zyte-parsers", sets)]


def _set_of(case: Case) -> str:
    listed = str(case["list"])
    if listed.endswith("TO_BE_ADDED"):
        return "to be added"
    return "xfail" if listed.endswith("XFAIL") else str(case["source"])


def _read(case: Case) -> _Read:
    mark = case["decimal_separator"] if case["decimal_separator"] in {".", ","} else None
    columns = _COLUMNS.model_copy(update={"decimal_mark": mark})
    fields = normalize({"price": case["price_raw"], "currency": case["currency_raw"]}, columns).fields
    amount, currency = fields.get("price"), fields.get("currency")
    return _Read(case, None if amount is None else Decimal(amount), None if currency is None else str(currency))


def _scores(name: str, sets: dict[str, list[_Read]]) -> list[Score]:
    reads = sets.get(name, [])
    with_currency = [read for read in reads if read.case["currency"] is not None]
    right, wrong = _count(reads, lambda read: read.is_amount_right), _count(reads, lambda read: read.is_amount_wrong)
    currencies = _count(with_currency, lambda read: read.is_currency_right)
    return [
        Score(f"{name}: amount right", right, len(reads), *_AMOUNT_BARS.get(name, ())),
        Score(f"{name}: amount wrong", wrong, len(reads), _WRONG_BARS.get(name), at_most=True),
        Score(f"{name}: currency right", currencies, len(with_currency), *_CURRENCY_BARS.get(name, ())),
    ]


def _count(reads: list[_Read], holds: Callable[[_Read], bool]) -> int:
    return sum(map(holds, reads))
