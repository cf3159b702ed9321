"""Currencies by code, symbol and name; several may share a symbol."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from forebay.services.products.texts import fold

_LISTED: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CODES: frozenset[str] = frozenset(_LISTED["codes"].split()) | frozenset(_LISTED["former"].split())
_PLACES: dict[str, int] = _LISTED["places"]
_WORDS: frozenset[str] = frozenset(_LISTED["words"].split())
_LONGEST = 3  # words of a name
_RUNS = re.compile(r"[^\W\d_]+(?:['.\u02bb\u2018\u2019][^\W\d_]+)*|[^\w\s]")
_MARKS = ".,:;+*!?&/\"'-\u2010\u2011\u2012\u2013\u2014\u2015\u2022"  # words without meaning next to a price


class CurrencyMention(NamedTuple):
    """The currency of a text: codes, the most likely first, none for money without a code; `hundredths`: cents."""

    text: str
    codes: tuple[str, ...]
    is_open: bool = False  # all codes are equally likely
    hundredths: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it is certainly money, whatever is next to it."""
        return self.text in CODES or has_sign(self.text) or len(self.text) > 2

    @property
    def is_usual(self) -> bool:
        return len(self.codes) == 1 or _key(self.text) in _USUAL


def _bare(text: str) -> str:
    return re.sub(r"[\s.]+", "", text)


def _key(text: str) -> str:
    return fold(_bare(text))


def _mention(name: str, listed: str) -> CurrencyMention:
    codes = listed.removeprefix("?")
    return CurrencyMention(name, tuple(codes.split()), is_open=codes != listed)


def _by_key(listed: Mapping[str, str]) -> dict[str, CurrencyMention]:
    return {_key(name): _mention(name, codes) for name, codes in listed.items()}


_USUAL = frozenset(map(_key, _LISTED["usual"]))
_NAMED: dict[str, CurrencyMention] = {
    **_by_key({name: code for code, names in _LISTED["names"].items() for name in names}),
    **_by_key(_LISTED["shared"]),
    **{_key(name): CurrencyMention(name, ()) for name in _LISTED["uncoded"]},
}
_AS_WRITTEN: dict[str, CurrencyMention] = {
    **{_bare(name): _mention(name, codes) for name, codes in _LISTED["as_written"].items()},
    **{
        name: CurrencyMention(name, tuple(code.split()), hundredths=True)
        for name, code in _LISTED["hundredths"].items()
    },
}


def places(currency: str | None) -> int:
    """The number of decimals of a currency."""
    return _PLACES.get(currency or "", 2)


def has_sign(text: str) -> bool:
    """Whether the text has a currency sign, known or not."""
    return any(unicodedata.category(each) == "Sc" for each in text)


@lru_cache(1024)
def find_mention(text: str) -> CurrencyMention | None:
    """The currency that a whole text names; None if it is not money."""
    bare = _bare(text)
    if found := _AS_WRITTEN.get(bare):
        return found
    upper = fold(bare).upper()
    if upper in CODES and (upper not in _WORDS or upper == bare):
        return CurrencyMention(upper, (upper,))
    found = _NAMED.get(fold(bare))
    if found and " " in text.strip() and has_sign(text) and text != text.upper():
        return None  # "a $" is not A$
    return found._replace(text=text.strip().rstrip(".")) if found else None


def find_mentions(text: str) -> Iterator[CurrencyMention | str]:
    """The currencies that a text names, and its other words, in order."""
    found = text.split()
    at = 0
    while at < len(found):
        for size in range(min(_LONGEST, len(found) - at), 0, -1):
            chunk = " ".join(found[at : at + size])
            if not _is_label(chunk) and (mention := find_mention(chunk)):
                yield mention
                break
        else:
            size = 1
            yield from _pieces(found[at])
        at += size


def _is_label(text: str) -> bool:
    """ "ID:" is not an Iraqi dinar."""
    return text.endswith(":") and not has_sign(text)


def _pieces(word: str) -> Iterator[CurrencyMention | str]:
    """A word without punctuation, or else its groups of letters and signs."""
    bare = word.strip(_MARKS)
    if not bare:
        return
    if (mention := find_mention(bare)) and (not _is_label(word) or mention.text in CODES):
        yield mention
        return
    runs = [run for run in _RUNS.findall(bare) if run not in _MARKS]
    if len(runs) < 2:
        yield CurrencyMention(bare, ()) if has_sign(bare) else bare
        return
    for run in runs:
        yield find_mention(run) or (CurrencyMention(run, ()) if has_sign(run) else run)


def common_codes(mentions: Iterable[CurrencyMention]) -> tuple[str, ...] | None:
    """The codes that fit all of them, empty if none has any; None if they contradict each other."""
    codes: tuple[str, ...] = ()
    for mention in mentions:
        if mention.codes:
            codes = tuple(code for code in mention.codes if code in codes) if codes else mention.codes
            if not codes:
                return None
    return codes
