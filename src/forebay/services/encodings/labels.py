"""Names of encodings: labels, Python's codecs, and names of the web standard.

Labels are those of the WHATWG standard, from `webencodings`. Others are ignored, because Python also has codecs such
as zlib and punycode.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from forebay.errors import ConfigError

MISSING = "reading text needs a package that is not installed: pip install 'forebay[sheets]' or 'forebay[web]'"

# Python's codecs for the encodings of the standard; some are supersets.
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
# Names used outside of the web, without punctuation.
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
# Two encodings of the standard that Python decodes with another codec, and two that it names differently.
_WEB_NAMES = {codec: name for name, codec in _CODECS.items() if name not in ("gbk", "iso-8859-8-i")} | {
    "utf_16_le": "utf-16-le",
    "utf_16_be": "utf-16-be",
}


def codec_name(label: str) -> str | None:
    """Python's name of a text encoding, for any label; None for others.

    Raises: ConfigError when `webencodings` is not installed.
    """
    key = _letters(label)
    if found := _ISO.fullmatch(key):
        key = f"iso8859{found[1]}"
    return _CODECS.get(_labels().get(key, ""))


def web_name(codec: str) -> str:
    """The name of a codec in the web standard."""
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
