"""Currencies by code, symbol and name; a symbol may be that of several."""

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
_MARKS = ".,:;+*!?&/\"'-\u2010\u2011\u2012\u2013\u2014\u2015\u2022"  # that mean nothing beside a price


class Naming(NamedTuple):
    """What a text names: codes from the likeliest on, none for money without a code; `hundredths` are cents."""

    text: str
    codes: tuple[str, ...]
    is_open: bool = False  # none of the codes is likelier than the others
    hundredths: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it can hardly be anything but money, whatever stands beside it."""
        return self.text in CODES or has_sign(self.text) or len(self.text) > 2

    @property
    def is_usual(self) -> bool:
        return len(self.codes) == 1 or _key(self.text) in _USUAL


def _bare(text: str) -> str:
    return re.sub(r"[\s.]+", "", text)


def _key(text: str) -> str:
    return fold(_bare(text))


def _naming(name: str, listed: str) -> Naming:
    codes = listed.removeprefix("?")
    return Naming(name, tuple(codes.split()), is_open=codes != listed)


def _by_key(listed: Mapping[str, str]) -> dict[str, Naming]:
    return {_key(name): _naming(name, codes) for name, codes in listed.items()}


_USUAL = frozenset(map(_key, _LISTED["usual"]))
_NAMED: dict[str, Naming] = {
    **_by_key({name: code for code, names in _LISTED["names"].items() for name in names}),
    **_by_key(_LISTED["shared"]),
    **{_key(name): Naming(name, ()) for name in _LISTED["uncoded"]},
}
_AS_WRITTEN: dict[str, Naming] = {
    **{_bare(name): _naming(name, codes) for name, codes in _LISTED["as_written"].items()},
    **{name: Naming(name, tuple(code.split()), hundredths=True) for name, code in _LISTED["hundredths"].items()},
}


def places(currency: str | None) -> int:
    """How many digits prices in a currency have after the mark."""
    return _PLACES.get(currency or "", 2)


def has_sign(text: str) -> bool:
    """Whether there is a character for money in it, known or not."""
    return any(unicodedata.category(each) == "Sc" for each in text)


@lru_cache(1024)
def find_naming(text: str) -> Naming | None:
    """What a text names as a whole; None when that is no money."""
    bare = _bare(text)
    if found := _AS_WRITTEN.get(bare):
        return found
    upper = fold(bare).upper()
    if upper in CODES and (upper not in _WORDS or upper == bare):
        return Naming(upper, (upper,))
    found = _NAMED.get(fold(bare))
    if found and " " in text.strip() and has_sign(text) and text != text.upper():
        return None  # "a $" is no A$
    return found._replace(text=text.strip().rstrip(".")) if found else None


def find_namings(text: str) -> Iterator[Naming | str]:
    """What a text names, and its other words, in their order."""
    found = text.split()
    at = 0
    while at < len(found):
        for size in range(min(_LONGEST, len(found) - at), 0, -1):
            chunk = " ".join(found[at : at + size])
            if not _is_label(chunk) and (naming := find_naming(chunk)):
                yield naming
                break
        else:
            size = 1
            yield from _pieces(found[at])
        at += size


def _is_label(text: str) -> bool:
    """ID: is no Iraqi dinar."""
    return text.endswith(":") and not has_sign(text)


def _pieces(word: str) -> Iterator[Naming | str]:
    """A word without the marks around it, or else the letters and signs that it is made of."""
    bare = word.strip(_MARKS)
    if not bare:
        return
    if (naming := find_naming(bare)) and (not _is_label(word) or naming.text in CODES):
        yield naming
        return
    runs = [run for run in _RUNS.findall(bare) if run not in _MARKS]
    if len(runs) < 2:
        yield Naming(bare, ()) if has_sign(bare) else bare
        return
    for run in runs:
        yield find_naming(run) or (Naming(run, ()) if has_sign(run) else run)


def common_codes(namings: Iterable[Naming]) -> tuple[str, ...] | None:
    """The codes that all of them may mean, none where none has any; None when they contradict each other."""
    codes: tuple[str, ...] = ()
    for naming in namings:
        if naming.codes:
            codes = tuple(code for code in naming.codes if code in codes) if codes else naming.codes
            if not codes:
                return None
    return codes
