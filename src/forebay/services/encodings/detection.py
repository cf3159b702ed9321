"""Detects encodings: byte order marks, UTF-8, UTF-16, ISO-2022-JP, else the most likely one."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from forebay.services.encodings.ranking import guess_codec

SAMPLE = 64 << 10  # bytes that are used for a guess
_LONG_LINE = 2000
# Never the second byte of a two-byte character, so that long lines may be split there.
_BREAKS = re.compile(rb'[<>,;\t" ]+')

MARKS = (
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF32_LE, "utf_32_le"),  # before UTF-16, whose mark is its prefix
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
    (codecs.BOM_UTF32_BE, "utf_32_be"),
)


def find_mark(head: bytes) -> tuple[str | None, int]:
    """The encoding of a byte order mark, and the length of the mark."""
    return next(((codec, len(mark)) for mark, codec in MARKS if head.startswith(mark)), (None, 0))


def guess(chunks: Iterable[bytes], head: bytes) -> str:
    """Guess the encoding of bytes without a mark or declaration.

    Raises: ConfigError when a required package is missing.
    """
    if codec := _wide(head) or _escaped(head):
        return codec
    is_utf8, sample = _scanned(chunks)
    if is_utf8 or is_mostly_utf8(sample):
        return "utf_8"
    return guess_codec(sample)


def looks_wide(head: bytes) -> bool:
    """Whether the encoding is UTF-16 or UTF-32."""
    return _wide(head) is not None


def is_mostly_utf8(sample: bytes) -> bool:
    """Whether most non-ASCII text is UTF-8: single bytes or lines may be invalid."""
    text = sample.decode("utf-8", "replace")
    beyond = sum(char > "\x7f" for char in text)
    broken = text.count("\ufffd")
    return beyond - broken >= 2 * broken and beyond > 0


# Checks.


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: lines end at character boundaries, with few control characters."""
    if len(head) < 8 or 0 not in head:
        return None
    for codec in ("utf_32_le", "utf_32_be", "utf_16_le", "utf_16_be"):
        try:
            text = codecs.getincrementaldecoder(codec)().decode(head)
        except UnicodeDecodeError:
            continue
        plain = sum(" " <= char < "\x7f" for char in text)
        controls = sum((char < " " and char not in "\t\r\n") or char in "\ufffe\uffff" for char in text)
        ends = sum(map(text.count, "\r\n"))
        are_whole = ends > 0 and ends * 2 >= head.count(b"\n") + head.count(b"\r")
        if controls * 50 <= len(text) and (plain * 2 > len(text) or (are_whole and plain * 50 > len(text))):
            return codec
    return None


def _escaped(head: bytes) -> str | None:
    """ISO-2022-JP, recognised by its escape sequences."""
    if b"\x1b$" not in head or not head.isascii():
        return None
    try:
        text = codecs.getincrementaldecoder("iso2022_jp")().decode(head)
    except UnicodeDecodeError:
        return None
    return None if "\x1b" in text or text.isascii() else "iso2022_jp"


def _scanned(chunks: Iterable[bytes]) -> tuple[bool, bytes]:
    """Whether all of it is UTF-8; if not, enough non-ASCII lines for a guess."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    sample, is_utf8 = bytearray(), True
    for chunk in chunks:
        if len(sample) < SAMPLE and not chunk.isascii():
            _add_lines(sample, chunk)
        if is_utf8:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                is_utf8 = False
        if not is_utf8 and len(sample) >= SAMPLE:
            break
    return is_utf8 and not decoder.getstate()[0], bytes(sample)  # an incomplete character at the end


def _add_lines(sample: bytearray, chunk: bytes) -> None:
    """Collect lines, or parts of long ones, with non-ASCII characters; others say nothing about the encoding."""
    for line in chunk.splitlines():
        if line.isascii():
            continue
        for part in _BREAKS.split(line) if len(line) > _LONG_LINE else (line,):
            if not part.isascii():
                sample += part[:_LONG_LINE] + b"\n"
        if len(sample) >= SAMPLE:
            return
