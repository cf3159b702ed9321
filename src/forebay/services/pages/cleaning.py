"""Sanitizes texts and URLs of a page: bounded, without control characters, absolute."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit, urlunsplit

_SPACE = re.compile(r"\s+")
# NUL cannot be stored, lone surrogates cannot be encoded, and bidirectional marks can disguise a title.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff]")
_LONGEST_URL = 4096
_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_WORDS_A_MINUTE, _IDEOGRAPHS_A_MINUTE = 230, 450


def line(text: str | None, longest: int = 500) -> str | None:
    """A text on one line; None if nothing is left."""
    if not text:
        return None
    found = _SPACE.sub(" ", _UNWANTED.sub("", text[: 8 * longest])).strip()
    return (found if len(found) <= longest else found[: longest - 1].rstrip() + "…") or None


def lines(text: str | None, longest: int) -> str:
    """A text with several lines."""
    return _UNWANTED.sub("", (text or "")[:longest]).strip()


def address(href: str | None, base: str, *, fragment: bool = False) -> str | None:
    """An absolute http(s) URL without credentials; None for others."""
    if not href or len(href) > _LONGEST_URL:
        return None
    try:
        made = urlsplit(urljoin(base, _UNWANTED.sub("", href).strip().replace("\n", "").replace("\t", "")))
        port = made.port
    except ValueError:
        return None
    host = made.hostname
    if made.scheme not in ("http", "https") or not host or made.username is not None or "\\" in made.netloc:
        return None
    shown = f"[{host}]" if ":" in host else host
    place = f"{shown}:{port}" if port and port != {"http": 80, "https": 443}[made.scheme] else shown
    found = urlunsplit((made.scheme, place, made.path or "/", made.query, made.fragment if fragment else ""))
    return found if len(found) <= _LONGEST_URL and not _SPACE.search(found) else None


def count_words(text: str) -> tuple[int, int]:
    """The number of words, and the minutes to read them; a Chinese character counts as a word."""
    ideographs = len(_IDEOGRAPH.findall(text))
    words = sum(1 for _ in _WORD.finditer(_IDEOGRAPH.sub(" ", text) if ideographs else text))
    minutes = words / _WORDS_A_MINUTE + ideographs / _IDEOGRAPHS_A_MINUTE
    return words + ideographs, max(1, round(minutes)) if words + ideographs else 0
