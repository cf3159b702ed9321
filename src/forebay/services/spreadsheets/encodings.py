"""In which encoding a text file is written: told by its first bytes, else by reading all of it once."""

from __future__ import annotations

import codecs
import re
from typing import IO

from forebay.errors import ConfigError, DataError

_CHUNK = 1 << 20
_SAMPLE = 64 << 10
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like the next
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
)
_UNMARKED = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_OTHERS = ("cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "shift_jis", "gb18030", "big5", "euc_kr")
_LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*")
_RUN = re.compile(rb"[\x80-\xff]+")
_EASTERN = frozenset("ąćęłńśźżĄĆĘŁŃŚŹŻčďěňřšťůžČĎĚŇŘŠŤŮŽőűŐŰăîșțşţ")
_WESTERN = frozenset("äöüßÄÖÜéèêëàâçîïôûùñáíóúãõåæøÅÆØÉ°²³€“”„…®©™£µ¼½¾\u2013\u2014\u2019")

MISSING = "telling this file's encoding needs a package that is not installed: pip install 'forebay[sheets]'"


def find_encoding(source: IO[bytes]) -> tuple[str, int]:
    """The encoding, and how many bytes the mark at the beginning has.

    A file of which most lines are UTF-8 is UTF-8; the others become bad rows.
    Raises: ConfigError when telling needs a package that is missing.
    """
    encoding, mark = find_mark(source)
    if encoding is not None:
        return encoding, mark
    source.seek(0)
    if wide := looks_wide(source.read(_SAMPLE)):
        return wide, 0
    source.seek(0)
    is_utf8, sample = _scanned(source)
    if is_utf8:
        return "utf-8", 0
    lines = _LINE.findall(sample)
    odd = [line for line in lines if not _decodes(line, "utf-8")]
    if len(odd) * 2 < len(lines) or not odd:
        return "utf-8", 0
    return _legacy(odd), 0


def find_mark(source: IO[bytes]) -> tuple[str | None, int]:
    """The encoding that the first bytes name, and how many they are."""
    source.seek(0)
    head = source.read(4)
    return next(((encoding, len(mark)) for mark, encoding in _MARKS if head.startswith(mark)), (None, 0))


def known_encoding(name: str, marked: str | None = None) -> str:
    """The name that Python has for it; where it leaves the order of bytes open, the file's mark says it.

    Raises: DataError when it knows none, or none in which lines can be told apart.
    """
    if name.lower().replace("_", "-") in {"utf-16", "utf-32", "utf-8-sig"}:
        wanted = name.lower().replace("_", "-").removesuffix("-sig")
        return marked if marked and marked.startswith(wanted) else known_encoding(_UNMARKED[wanted])
    try:
        found = codecs.lookup(name)
        plain = "\n".encode(found.name) in (b"\n", b"\n\0", b"\0\n", b"\n\0\0\0", b"\0\0\0\n")
    except (LookupError, UnicodeError, TypeError, ValueError):
        plain = False
    else:
        plain = plain and found.name not in {"utf-7", "hz", "idna", "punycode"} and "2022" not in found.name
    if not plain:
        raise DataError(f"encoding: {name[:40]!r} is none that is read; try utf-8, utf-16-le, cp1252 or shift_jis")
    return codecs.lookup(name).name


def looks_wide(head: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of what is mostly ASCII is 0."""
    half = len(head) // 2
    if half < 4:
        return None
    low, high = head[0 : half * 2 : 2].count(0), head[1 : half * 2 : 2].count(0)
    if high > half * 0.6 and low < half * 0.1:
        return "utf-16-le"
    if low > half * 0.6 and high < half * 0.1:
        return "utf-16-be"
    return None


def _scanned(source: IO[bytes]) -> tuple[bool, bytes]:
    """Whether all of it is UTF-8; if not, some of what is not ASCII."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    sample, is_utf8 = bytearray(), True
    while chunk := source.read(_CHUNK):
        if len(sample) < _SAMPLE and not chunk.isascii():
            for line in _LINE.finditer(chunk):
                sample += line[0][:_SAMPLE] + b"\n"
                if len(sample) >= _SAMPLE:
                    break
        if is_utf8:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                is_utf8 = False
        if not is_utf8 and len(sample) >= _SAMPLE:
            break
    if is_utf8:
        is_utf8 = not decoder.getstate()[0]  # a character that was cut off
    return is_utf8, bytes(sample)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _legacy(lines: list[bytes]) -> str:
    """Letters with accents stand alone between others; alphabets that are not Latin come in runs."""
    sample = b"\n".join(lines)
    runs = [len(run) for run in _RUN.findall(sample)]
    if sum(length for length in runs if length <= 2) * 2 >= sum(runs):
        return _latin(sample)
    return _guessed(sample)


def _latin(sample: bytes) -> str:
    eastern = sum(character in _EASTERN for character in sample.decode("cp1250", "replace"))
    western = sum(character in _WESTERN for character in sample.decode("cp1252", "replace"))
    return "cp1250" if eastern > western else "cp1252"


def _guessed(sample: bytes) -> str:
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(f"{MISSING}; or say which it is") from error
    best = from_bytes(sample, cp_isolation=list(_OTHERS)).best()
    return best.encoding if best else _latin(sample)
