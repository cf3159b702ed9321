"""Names of encodings: labels as they are written, Python's codecs, and names as the web writes them.

Labels are those of the WHATWG standard, from `webencodings`. Others are ignored: Python knows codecs like zlib and
punycode, too.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from forebay.errors import ConfigError

MISSING = "reading text needs a package that is not installed: pip install 'forebay[sheets]' or 'forebay[web]'"

# The codecs of Python for the encodings of the standard; some read the same and more.
_CODECS = {
    "utf-8": "utf_8",
    "utf-16le": "utf_16_le",
    "utf-16be": "utf_16_be",
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859_8",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    **{f"windows-{number}": f"cp{number}" for number in (874, *range(1250, 1259))},
    **{f"iso-8859-{number}": f"iso8859_{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}
# What is written outside the web, without marks between letters.
_OTHER_LABELS = {
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp936": "gbk",
    "cp949": "euc-kr",
    "cp950": "big5",
    "iso646us": "windows-1252",
    "koi8ru": "koi8-u",
    "mac": "macintosh",
    "macroman": "macintosh",
    "maccyrillic": "x-mac-cyrillic",
    "l9": "iso-8859-15",
    "latin9": "iso-8859-15",
    "sungreek": "iso-8859-7",
    "ujis": "euc-jp",
}
_ISO = re.compile(r"(?:cs)?(?:iso)?8859([0-9]{1,2})")
# Two encodings of the standard that Python reads by the codec of another, and two names that it writes otherwise.
_WEB_NAMES = {codec: name for name, codec in _CODECS.items() if name not in ("gbk", "iso-8859-8-i")} | {
    "utf_16_le": "utf-16-le",
    "utf_16_be": "utf-16-be",
}


def codec_name(label: str) -> str | None:
    """Python's name for an encoding that texts may be in, whatever way it is spelled; None for all others.

    Raises: ConfigError when `webencodings` is not installed.
    """
    key = _letters(label)
    if found := _ISO.fullmatch(key):
        key = f"iso8859{found[1]}"
    return _CODECS.get(_labels().get(key, ""))


def web_name(codec: str) -> str:
    """The name of a codec as the web writes it."""
    return _WEB_NAMES.get(codec) or codec.replace("iso8859_", "iso-8859-").replace("_", "-")


@cache
def _labels() -> dict[str, str]:
    try:
        labels: dict[str, str] = import_module("webencodings").LABELS  # an extra
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return {_letters(label): name for label, name in labels.items()} | _OTHER_LABELS


def _letters(label: str) -> str:
    return re.sub(r"[^a-z0-9]", "", label.lower())
