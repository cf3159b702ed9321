"""Guesses the encoding of a text: chardet ranks the encodings, and implausible words count against one.

chardet compares pairs of bytes with the statistics of languages. A few words are not enough for that: it takes "5 °C"
for Arabic and "Tè verde" for Russian. Then two things decide: the words that an encoding produces ("Tи" mixes two
alphabets), and how common the encoding is.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache

from forebay.errors import ConfigError

MISSING = "detecting the encoding of this file needs a package that is not installed: pip install 'forebay[sheets]'"

# The candidates, by chardet's names, and how common they are. EBCDIC and encodings of terminals are left out.
_COMMON = ("cp1252", "cp1250", "cp1251", "gb18030", "cp932", "big5hkscs", "cp949")
_USUAL = ("cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp874", "koi8-r", "euc_jis_2004", "iso8859-2")
_RARE = (
    *("iso8859-1", "iso8859-15", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "iso8859-16"),
    *("cp850", "cp852", "cp866", "koi8-u", "mac-roman", "mac-cyrillic", "johab"),
)
_VERY_RARE = (
    *("iso8859-3", "iso8859-4", "iso8859-10", "iso8859-13", "iso8859-14", "cp1258"),
    *("cp437", "cp855", "cp857", "cp862", "mac-latin2", "mac-greek", "mac-turkish"),
)
_PRIORS = {
    name: prior for names, prior in ((_COMMON, 0.0), (_USUAL, 0.5), (_RARE, 1.0), (_VERY_RARE, 1.8)) for name in names
} | {"cp1252": -0.6}
_WEIGHT = 6.0  # weight of the share of implausible words
_LOOKED_AT = 8192  # bytes of the sample whose words are checked
_CANDIDATES = 16
# Codecs of Python that are supersets, or faster.
_CODECS = {"iso8859-1": "cp1252", "euc_jis_2004": "euc_jp"}

_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]*[^\x00-\x7f][A-Za-z\x80-\U0010ffff]*")
_LATIN, _EAST_ASIAN, _SYMBOL, _BROKEN = "latin", "east asian", "symbol", "broken"
_CASED = frozenset(("greek", "cyrillic"))
_NO_CAPITALS = 0.1
_IN_WORDS = frozenset("\u2019\u2018\u00b4\u00b7\u2010\u2011\u2013\u2014\u00ad")  # apostrophes, dots and dashes
_ODD_LATIN = frozenset("ðþÐÞýÝ")  # except in Icelandic and Czech, they indicate a wrong encoding


def guess_codec(sample: bytes) -> str:
    """Python's name of the most likely encoding of these lines, which all have non-ASCII bytes.

    Raises: ConfigError when chardet is not installed.
    """
    ranked = _ranked(sample)
    ranked.setdefault("cp1252", 0.0)
    found = list(ranked.items())[:_CANDIDATES]
    best = max(found, key=lambda one: _score(sample[:_LOOKED_AT], *one))[0]
    return _CODECS.get(best, best).replace("-", "_")


def _ranked(sample: bytes) -> dict[str, float]:
    """chardet's confidence in each encoding, the most likely first."""
    try:
        from chardet import detect_all  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(f"{MISSING}; or set the encoding") from error
    found = detect_all(
        sample,
        ignore_threshold=True,
        compat_names=False,
        include_encodings=list(_PRIORS),
        max_bytes=len(sample) or 1,
        empty_input_encoding="cp1252",
    )
    return {name: one["confidence"] for one in found if (name := one["encoding"]) in _PRIORS}


def _score(sample: bytes, name: str, confidence: float) -> float:
    """With more words, the prior of an encoding matters less, and a few implausible words matter more."""
    text = sample.decode(name, "replace")
    words = _WORD.findall(text)
    if not words:
        return math.log(confidence + 0.002) - _PRIORS[name]
    joined = "".join(words)
    if _kind(joined[0]) in _CASED and joined.isupper():  # chardet's statistics are for lower case
        confidence = max(confidence, _ranked(text.lower().encode(name, "replace")).get(name, 0.0))
    odd = sum(map(_odd, words)) / len(words) + _NO_CAPITALS * _lacks_capitals(joined)
    count = min(len(words), 200)
    return math.log(confidence + 0.002) - _PRIORS[name] * 20 / (20 + count) - _WEIGHT * odd * (1 + count / 50)


def _lacks_capitals(text: str) -> bool:
    """Whether Greek or Cyrillic text has no capitals, as Hebrew does when decoded in a wrong encoding."""
    return _kind(text[0]) in _CASED and text.islower()


def _odd(word: str) -> float:
    """The likelihood that a word was decoded in a wrong encoding."""
    kinds = [_kind(char) for char in word]
    scripts = set(kinds) - {_SYMBOL}
    if _BROKEN in scripts:
        return 1.0
    if _EAST_ASIAN in scripts:
        return _odd_east_asian(word, kinds)
    if len(scripts) > 1:
        return 1.0
    if not scripts:
        return 0.0
    if len(word) == 1 and scripts != {_LATIN}:
        return 0.5
    return _odd_letters(word, kinds)


def _odd_east_asian(word: str, kinds: list[str]) -> float:
    """Latin letters occur before and after words ("USBケーブル"), but lower case ones not inside of them."""
    pairs = zip(kinds, kinds[1:], word[1:], strict=False)
    if any(before == _EAST_ASIAN and after != _EAST_ASIAN and char.islower() for before, after, char in pairs):
        return 1.0
    return 0.0 if set(kinds) <= {_LATIN, _EAST_ASIAN, _SYMBOL} else 1.0


def _odd_letters(word: str, kinds: list[str]) -> float:
    if _has_symbol_inside(word, kinds):
        return 1.0
    beyond = [char for char in word[1:] if char > "\x7f"]
    if any(char.islower() for char in word) and any(char.isupper() for char in beyond):
        return 0.8 if not word[:-1].isupper() else 0.4
    ascii_letters = [char for char in word if char.isascii()]
    if (
        len(ascii_letters) > 1
        and all(map(str.isupper, ascii_letters))
        and any(c.islower() and c != "ß" for c in beyond)
    ):
        return 0.8
    return 0.2 if any(char in _ODD_LATIN for char in word) else 0.0


def _has_symbol_inside(word: str, kinds: list[str]) -> bool:
    return any(
        kinds[at] == _SYMBOL and kinds[at - 1] != _SYMBOL and kinds[at + 1] != _SYMBOL and word[at] not in _IN_WORDS
        for at in range(1, len(word) - 1)
    )


_RANGES = (
    (0x0080, 0x00A0, _BROKEN),
    (0x0370, 0x0400, "greek"),
    (0x0400, 0x0530, "cyrillic"),
    (0x0590, 0x0600, "hebrew"),
    (0x0600, 0x0700, "arabic"),
    (0x0E00, 0x0E80, "thai"),
    (0x1100, 0x1200, _EAST_ASIAN),
    (0x2500, 0x25A0, _BROKEN),  # box drawing characters
    (0x3005, 0xD800, _EAST_ASIAN),
    (0xE000, 0xF900, _BROKEN),
    (0xF900, 0xFB00, _EAST_ASIAN),
    (0xFB00, 0xFF00, _BROKEN),  # presentation forms
    (0xFF66, 0xFFA0, _EAST_ASIAN),
    (0xFFF0, 0x10000, _BROKEN),
)


@lru_cache(maxsize=4096)
def _kind(char: str) -> str:
    """The script of a letter, or the category of another character."""
    code = ord(char)
    for begin, end, name in _RANGES:
        if begin <= code < end:
            return name if name in (_BROKEN, "thai") or char.isalpha() or unicodedata.combining(char) else _SYMBOL
    return _LATIN if char.isalpha() and char not in "ªºµ" else _SYMBOL
