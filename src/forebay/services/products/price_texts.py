"""Reads the text next to the number of a price: its currency, and words that change its meaning."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from forebay.services.products.currencies import CODES, CurrencyMention, common_codes, find_mentions, has_sign
from forebay.services.products.texts import Unreadable, clean, fold, shown

_LISTED: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("price_words.toml").read_text("utf-8"))
_PLAIN, _UNITS, _LOWEST, _MULTIPLES, _NO_PRICES = (
    frozenset(map(fold, _LISTED[name])) for name in ("plain", "units", "lowest", "multiples", "no_prices")
)
_COMMON = _PLAIN | _UNITS
_BRACKETS = str.maketrans("()[]{}*~|_\u2022", " " * 11)
_DIGITS = re.compile(r"[\d.,'%]*\d[\d.,'%]*")
PERCENT = re.compile(r"\(?[-+\u2010-\u2015\u2212]?\s?(?:\d+(?:[.,]\d+)?\s?%|%\s?\d+(?:[.,]\d+)?)\)?")


class PriceContext(NamedTuple):
    """The possible codes of a price, the most likely first, and remarks for the owner."""

    codes: tuple[str, ...] = ()
    is_open: bool = False  # all codes are equally likely
    is_usual: bool = True  # the first is so likely that no remark is needed
    hundredths: bool = False
    has_major: bool = False  # the main unit is also named
    has_major_sign: bool = False  # by a sign such as $
    lowest: bool = False
    ignored: tuple[str, ...] = ()

    def currency(self, stated: str | None) -> str | None:
        """The code, if it can be determined: the one stated elsewhere if it fits."""
        if stated in self.codes:
            return stated
        return self.codes[0] if self.codes and (len(self.codes) == 1 or not self.is_open) else None


def read_price_context(before: str, after: str, text: str, *, percents: Sequence[str] = ()) -> PriceContext:
    """Read the texts before and after the number of a price.

    Raises: Unreadable.
    """
    left, right = _parts(before), _parts(after)
    _check_words([*map(_word, left), *map(_word, right)], _NO_PRICES, text)
    counted = right[:1] if "/" in after else right  # after a slash, m means metre
    _check_words([*map(_word, counted)], _MULTIPLES, text)
    found = _without_plain([*left, *right])
    mentions = [each for each in found if isinstance(each, CurrencyMention)]
    words = [each for each in found if isinstance(each, str)]
    lowest = any(fold(word) in _LOWEST for word in words)
    ignored = [*(word for word in words if fold(word) not in _LOWEST), *percents]
    if ignored and not _is_told(left, right, mentions):
        raise Unreadable(f"{shown(text)} has words that are not a currency: {shown(' '.join(ignored), 40)}")
    return _joined(mentions, text)._replace(lowest=lowest, ignored=tuple(ignored))


def read_currency_text(text: str) -> PriceContext:
    """The same for a text that names a currency; amounts in it are ignored.

    Raises: Unreadable.
    """
    found = _without_plain(_parts(_DIGITS.sub(" ", text)))
    mentions = [each for each in found if isinstance(each, CurrencyMention)]
    words = tuple(each for each in found if isinstance(each, str))
    if not any(mention.codes for mention in mentions) or (words and not any(mention.is_sure for mention in mentions)):
        raise Unreadable(f"{shown(text)} is not a currency: write its code, such as EUR or USD")
    return _joined(mentions, text)._replace(ignored=words)


def _joined(mentions: Sequence[CurrencyMention], text: str) -> PriceContext:
    codes = common_codes(mentions)
    if codes is None:
        raise Unreadable(f"{shown(text)} names more than one currency")
    return PriceContext(
        codes=codes,
        is_open=all(mention.is_open for mention in mentions),
        is_usual=any(mention.is_usual for mention in mentions),
        hundredths=any(mention.hundredths for mention in mentions),
        has_major=any(mention.codes and not mention.hundredths for mention in mentions),
        has_major_sign=any(has_sign(mention.text) and not mention.hundredths for mention in mentions),
    )


@lru_cache(1024)  # the texts in a column are often the same
def _parts(text: str) -> tuple[CurrencyMention | str, ...]:
    return tuple(find_mentions(text.translate(_BRACKETS)))


def _word(each: CurrencyMention | str) -> str:
    return fold(each if isinstance(each, str) else each.text)


def _check_words(words: Sequence[str], refused: frozenset[str], text: str) -> None:
    if found := next((word for word in words if word in refused), None):
        raise Unreadable(f"{shown(text)} is not a price: it contains {shown(found)}")


def _without_plain(found: Sequence[CurrencyMention | str]) -> list[CurrencyMention | str]:
    """Without filler words. Some are also symbols: those count in capitals if nothing else names a currency."""
    if any(isinstance(each, CurrencyMention) and not _is_common(each) for each in found):
        return [each for each in found if not _is_common(each)]
    symbols = [
        each for each in found if isinstance(each, CurrencyMention) and (len(found) == 1 or not each.text.islower())
    ]
    return [each for each in found if each in symbols or _word(each) not in _PLAIN]


def _is_common(each: CurrencyMention | str) -> bool:
    return _word(each) in _COMMON and not _is_code(each)


def _is_code(each: CurrencyMention | str) -> bool:
    return isinstance(each, CurrencyMention) and each.text in CODES


def _is_told(
    left: Sequence[CurrencyMention | str], right: Sequence[CurrencyMention | str], mentions: Sequence[CurrencyMention]
) -> bool:
    """Whether the number is certainly money, because it is next to the name of a currency."""
    nearest = [*left[-1:], *right[:1]]
    return any(each in nearest and each.codes and (each.is_sure or len(each.text) > 1) for each in mentions)


def read_currency(value: object, *, stated: str | None = None) -> str:
    """The code of the currency in a cell; `stated` resolves shared symbols.

    Raises: Unreadable.
    """
    text = clean(value, 200)
    found = read_currency_text(text)
    code = found.currency(stated)
    if code is None:
        raise Unreadable(f"{shown(text)} may be {one_of(found.codes)}: write the code")
    return code


def one_of(codes: Sequence[str]) -> str:
    """A list of codes for messages."""
    if len(codes) < 2:
        return "".join(codes)
    return f"{', '.join(codes[:-1])} or {codes[-1]}" if len(codes) <= 5 else f"{', '.join(codes[:4])} or another"
