"""Currencies by code, symbol and name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from forebay.services.products.texts import Unreadable, clean, fold, shown

_LISTED: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CODES: frozenset[str] = frozenset(_LISTED["codes"].split())
_PLACES: dict[str, int] = _LISTED["places"]
_BY_NAME: dict[str, str] = {fold(name): code for code, names in _LISTED["names"].items() for name in names}
_KRONE = {"kr", "kronor", "kroner"}  # of Denmark, Norway or Sweden


def places(currency: str | None) -> int:
    """How many digits prices in a currency have after the mark."""
    return _PLACES.get(currency or "", 2)


def find_currency(text: str) -> str | None:
    """The code of what a price's text names; None when that is no currency, or one of several."""
    name = fold(re.sub(r"[\s.]+", "", text))
    upper = name.upper()
    return upper if upper in CODES else _BY_NAME.get(name)


def is_krone(text: str) -> bool:
    """Whether a text names a currency of which there are three."""
    return fold(text).strip(" .") in _KRONE


def read_currency(value: object) -> str:
    """The code of the currency in a cell.

    Raises: Unreadable.
    """
    text = clean(value, 100)
    if is_krone(text):
        raise Unreadable(f"{shown(text)} may be DKK, NOK or SEK: write the code")
    found = find_currency(text)
    if found is None:
        raise Unreadable(f"{shown(text)} is no currency: write its code, as EUR or USD")
    return found
