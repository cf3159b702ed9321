"""Bytes of a page to text: byte order mark, header, the page's own word, then what the bytes look like."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

# Names as pages use them, and what browsers take them for; others are ignored: Python knows codecs like zlib, too.
_ALIASES = {
    "ascii": "cp1252",
    "usascii": "cp1252",
    "latin1": "cp1252",
    "iso88591": "cp1252",
    "iso88599": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "xgbk": "gb18030",
    "shiftjis": "cp932",
    "xsjis": "cp932",
    "sjis": "cp932",
    "mskanji": "cp932",
    "windows31j": "cp932",
    "euckr": "cp949",
    "ksc56011987": "cp949",
    "windows949": "cp949",
    "big5": "big5hkscs",
    "xxbig5": "big5hkscs",
    "xeucjp": "euc_jp",
    "tis620": "cp874",
    "iso885911": "cp874",
    "windows874": "cp874",
    "iso88598i": "iso8859_8",
    "xmaccyrillic": "mac_cyrillic",
    "macintosh": "mac_roman",
    "utf16": "utf_16_le",
    "unicode": "utf_16_le",
    **{f"windows125{n}": f"cp125{n}" for n in range(9)},
}
_UNICODE = {"utf8", "utf_8", "utf_16_le", "utf_16_be"}
_ASIAN = {"gb18030", "big5hkscs", "euc_jp", "cp932", "iso2022_jp", "cp949", "cp874"}
_EUROPEAN = {"koi8_r", "koi8_u", "cp866", "mac_cyrillic", "mac_roman", *(f"cp125{n}" for n in range(9))}
_KNOWN = frozenset(_UNICODE | _ASIAN | _EUROPEAN | {f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)})
_BOMS = ((codecs.BOM_UTF8, "utf_8"), (codecs.BOM_UTF16_LE, "utf_16_le"), (codecs.BOM_UTF16_BE, "utf_16_be"))
_META = re.compile(rb"""<meta[^>]{0,512}?charset\s*=\s*["']?\s*([a-zA-Z0-9_:.-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([a-zA-Z0-9_:.-]{2,40})""", re.IGNORECASE)
_HEAD = 4096  # bytes in which a page's own word is looked for
_SAMPLE = 1 << 16
_BROKEN_SHARE = 0.1  # more broken characters than that among those beyond ASCII: the name was wrong


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and the name of the encoding that it was in."""

    text: str
    charset: str


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """The text of a page; bytes that fit nothing become U+FFFD."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], name)
    for name in _told(data, declared):
        text = _fitting(data, name)
        if text is not None:
            return Decoded(text, _shown(name))
    return _decoded(data, _guessed(data))


def codec_name(label: str) -> str | None:
    """Python's name for an encoding that pages may be in; None for all others."""
    key = re.sub(r"[^a-z0-9]", "", label.lower())
    if key.startswith("cp125"):
        key = key.replace("cp", "windows")
    name = _ALIASES.get(key)
    if name is None:
        try:
            name = codecs.lookup(label).name.replace("-", "_")
        except (LookupError, ValueError):
            return None
        name = _ALIASES.get(re.sub(r"[^a-z0-9]", "", name), name)
    return name if name in _KNOWN else None


def _told(data: bytes, declared: str | None) -> Iterator[str]:
    """Encodings as they were named, the header first."""
    if declared and (name := codec_name(declared)):
        yield name
    for pattern in (_META, _XML):
        found = pattern.search(data[:_HEAD])
        if found and (name := codec_name(found[1].decode("ascii"))):
            # A page whose own word can be read as ASCII is not in UTF-16, whatever it says.
            yield "utf_8" if name.startswith("utf_16") else name


def _fitting(data: bytes, name: str) -> str | None:
    """The text, unless the bytes show that the name is wrong."""
    if name == "cp1252" and _is_utf8(data):  # the servers' default rather than the author's word
        return None
    text = data.decode(name, "replace")
    broken = text.count("\ufffd")
    beyond = sum(1 for char in text[:_SAMPLE] if char > "\x7f")
    if broken and text[:_SAMPLE].count("\ufffd") > _BROKEN_SHARE * max(beyond, 10):
        return None
    return text


def _is_utf8(data: bytes) -> bool:
    """Whether there is something beyond ASCII, and all of it is UTF-8; the end may be cut."""
    if data.isascii():
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _guessed(data: bytes) -> str:
    if data.isascii() or _is_utf8(data):
        return "utf_8"
    sample = data[:_SAMPLE]
    if sample.count(0) * 4 > len(sample):
        return "utf_16_le" if sample[1::2].count(0) >= sample[::2].count(0) else "utf_16_be"
    if data[:_SAMPLE].decode("utf-8", "ignore").isprintable() and _mostly_utf8(sample):
        return "utf_8"
    from charset_normalizer import from_bytes  # noqa: PLC0415 - slow to import, and rarely needed

    best = from_bytes(sample).best()
    return (codec_name(best.encoding) if best else None) or "cp1252"


def _mostly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    beyond = sum(1 for char in text if char > "\x7f")
    return text.count("\ufffd") <= _BROKEN_SHARE * beyond


def _decoded(data: bytes, name: str) -> Decoded:
    return Decoded(data.decode(name, "replace"), _shown(name))


def _shown(name: str) -> str:
    """A name as the web writes it."""
    web = {"cp932": "shift_jis", "cp949": "euc-kr", "cp874": "windows-874", "cp866": "ibm866", "big5hkscs": "big5"}
    if name in web:
        return web[name]
    if name.startswith("cp125"):
        return f"windows-{name[2:]}"
    if name.startswith("iso8859_"):
        return f"iso-8859-{name.removeprefix('iso8859_')}"
    return {"utf8": "utf-8", "iso2022_jp": "iso-2022-jp"}.get(name, name.replace("_", "-"))
