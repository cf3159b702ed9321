"""What stands beside the number of a price: its currency, words that change what it means, and all others."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forebay.services.products.currencies import CODES, Naming, common_codes, find_namings, has_sign
from forebay.services.products.texts import Unreadable, clean, fold, shown

_LISTED: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("price_words.toml").read_text("utf-8"))
_PLAIN, _UNITS, _LOWEST, _MULTIPLES, _NO_PRICES = (
    frozenset(map(fold, _LISTED[name])) for name in ("plain", "units", "lowest", "multiples", "no_prices")
)
_COMMON = _PLAIN | _UNITS
_BRACKETS = str.maketrans("()[]{}*~|_\u2022", " " * 11)
_DIGITS = re.compile(r"[\d.,'%]*\d[\d.,'%]*")
PERCENT = re.compile(r"\(?[-+\u2010-\u2015\u2212]?\s?(?:\d+(?:[.,]\d+)?\s?%|%\s?\d+(?:[.,]\d+)?)\)?")


class Beside(NamedTuple):
    """The codes that a price may be in, from the likeliest on, and what its owner should know."""

    codes: tuple[str, ...] = ()
    is_open: bool = False  # none of the codes is likelier than the others
    is_usual: bool = True  # the first is so likely that nobody needs to be told
    hundredths: bool = False
    has_major: bool = False  # the unit of which those are hundredths is named, too
    has_major_sign: bool = False  # by a sign such as $
    lowest: bool = False
    ignored: tuple[str, ...] = ()

    def currency(self, stated: str | None) -> str | None:
        """The code that is meant, if it can be told: one that is stated elsewhere where that fits."""
        if stated in self.codes:
            return stated
        return self.codes[0] if self.codes and (len(self.codes) == 1 or not self.is_open) else None


def read_beside(before: str, after: str, text: str, *, percents: Sequence[str] = ()) -> Beside:
    """What the texts before and after the number of a price say.

    Raises: Unreadable.
    """
    left, right = _parts(before), _parts(after)
    _check_words([*map(_word, left), *map(_word, right)], _NO_PRICES, text)
    counted = right[:1] if "/" in after else right  # after a slash, m is a metre
    _check_words([*map(_word, counted)], _MULTIPLES, text)
    found = _without_plain([*left, *right])
    namings = [each for each in found if isinstance(each, Naming)]
    words = [each for each in found if isinstance(each, str)]
    lowest = any(fold(word) in _LOWEST for word in words)
    ignored = [*(word for word in words if fold(word) not in _LOWEST), *percents]
    if ignored and not _is_told(left, right, namings):
        raise Unreadable(f"{shown(text)} has words that are no currency: {shown(' '.join(ignored), 40)}")
    return _joined(namings, text)._replace(lowest=lowest, ignored=tuple(ignored))


def read_currency_text(text: str) -> Beside:
    """The same for a text that is to name a currency; amounts in it are left out.

    Raises: Unreadable.
    """
    found = _without_plain(_parts(_DIGITS.sub(" ", text)))
    namings = [each for each in found if isinstance(each, Naming)]
    words = tuple(each for each in found if isinstance(each, str))
    if not any(naming.codes for naming in namings) or (words and not any(naming.is_sure for naming in namings)):
        raise Unreadable(f"{shown(text)} is no currency: write its code, as EUR or USD")
    return _joined(namings, text)._replace(ignored=words)


def _joined(namings: Sequence[Naming], text: str) -> Beside:
    codes = common_codes(namings)
    if codes is None:
        raise Unreadable(f"{shown(text)} names more than one currency")
    return Beside(
        codes=codes,
        is_open=all(naming.is_open for naming in namings),
        is_usual=any(naming.is_usual for naming in namings),
        hundredths=any(naming.hundredths for naming in namings),
        has_major=any(naming.codes and not naming.hundredths for naming in namings),
        has_major_sign=any(has_sign(naming.text) and not naming.hundredths for naming in namings),
    )


@lru_cache(1024)  # a column has the same around each number
def _parts(text: str) -> tuple[Naming | str, ...]:
    return tuple(find_namings(text.translate(_BRACKETS)))


def _word(each: Naming | str) -> str:
    return fold(each if isinstance(each, str) else each.text)


def _check_words(words: Sequence[str], refused: frozenset[str], text: str) -> None:
    if found := next((word for word in words if word in refused), None):
        raise Unreadable(f"{shown(text)} is no price: it has {shown(found)} in it")


def _without_plain(found: Sequence[Naming | str]) -> list[Naming | str]:
    """Without the words that say nothing. Some are symbols, too: they are in capitals where nothing else is money."""
    if any(isinstance(each, Naming) and not _is_common(each) for each in found):
        return [each for each in found if not _is_common(each)]
    symbols = [each for each in found if isinstance(each, Naming) and (len(found) == 1 or not each.text.islower())]
    return [each for each in found if each in symbols or _word(each) not in _PLAIN]


def _is_common(each: Naming | str) -> bool:
    return _word(each) in _COMMON and not _is_code(each)


def _is_code(each: Naming | str) -> bool:
    return isinstance(each, Naming) and each.text in CODES


def _is_told(left: Sequence[Naming | str], right: Sequence[Naming | str], namings: Sequence[Naming]) -> bool:
    """Whether the number is money, whatever else is said: it stands next to the name of a currency."""
    nearest = [*left[-1:], *right[:1]]
    return any(each in nearest and each.codes and (each.is_sure or len(each.text) > 1) for each in namings)


def read_currency(value: object, *, stated: str | None = None) -> str:
    """The code of the currency in a cell; `stated` is told elsewhere, for symbols that several have.

    Raises: Unreadable.
    """
    text = clean(value, 200)
    found = read_currency_text(text)
    code = found.currency(stated)
    if code is None:
        raise Unreadable(f"{shown(text)} may be {one_of(found.codes)}: write the code")
    return code


def one_of(codes: Sequence[str]) -> str:
    """Codes as messages list them."""
    if len(codes) < 2:
        return "".join(codes)
    return f"{', '.join(codes[:-1])} or {codes[-1]}" if len(codes) <= 5 else f"{', '.join(codes[:4])} or another"
