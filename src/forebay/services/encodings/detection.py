"""What bytes look like: byte order marks, UTF-8, UTF-16, Japanese by escapes, and otherwise the likeliest encoding."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from forebay.services.encodings.ranking import guess_codec

SAMPLE = 64 << 10  # bytes beyond which nothing is looked at to guess
_LONG_LINE = 2000
# Never the second half of a character of two bytes, so that long lines may be cut there.
_BREAKS = re.compile(rb'[<>,;\t" ]+')

MARKS = (
    (codecs.BOM_UTF8, "utf_8"),
    (codecs.BOM_UTF32_LE, "utf_32_le"),  # begins like the next
    (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
    (codecs.BOM_UTF32_BE, "utf_32_be"),
)


def find_mark(head: bytes) -> tuple[str | None, int]:
    """The encoding that the first bytes name, and how many they are."""
    return next(((codec, len(mark)) for mark, codec in MARKS if head.startswith(mark)), (None, 0))


def guess(chunks: Iterable[bytes], head: bytes) -> str:
    """The encoding of bytes without a mark, of which nobody says what they are.

    Raises: ConfigError when telling needs a package that is missing.
    """
    if codec := _wide(head) or _escaped(head):
        return codec
    is_utf8, sample = _scanned(chunks)
    if is_utf8 or is_mostly_utf8(sample):
        return "utf_8"
    return guess_codec(sample)


def looks_wide(head: bytes) -> bool:
    """Whether these are characters of two or four bytes each."""
    return _wide(head) is not None


def is_mostly_utf8(sample: bytes) -> bool:
    """Whether most of what is beyond ASCII is UTF-8: a byte or a line that is not is a fault of its own."""
    text = sample.decode("utf-8", "replace")
    beyond = sum(char > "\x7f" for char in text)
    broken = text.count("\ufffd")
    return beyond - broken >= 2 * broken and beyond > 0


# How bytes look.


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: lines end with whole characters, and there is hardly a control character."""
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
    """Japanese in seven bits, which begins by an escape."""
    if b"\x1b$" not in head or not head.isascii():
        return None
    try:
        text = codecs.getincrementaldecoder("iso2022_jp")().decode(head)
    except UnicodeDecodeError:
        return None
    return None if "\x1b" in text or text.isascii() else "iso2022_jp"


def _scanned(chunks: Iterable[bytes]) -> tuple[bool, bytes]:
    """Whether all of it is UTF-8; if not, lines that are not ASCII, as many as a guess needs."""
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
    return is_utf8 and not decoder.getstate()[0], bytes(sample)  # a state: a character that was cut off


def _add_lines(sample: bytearray, chunk: bytes) -> None:
    """Lines, or parts of long ones, with something beyond ASCII: what is around them only dilutes it."""
    for line in chunk.splitlines():
        if line.isascii():
            continue
        for part in _BREAKS.split(line) if len(line) > _LONG_LINE else (line,):
            if not part.isascii():
                sample += part[:_LONG_LINE] + b"\n"
        if len(sample) >= SAMPLE:
            return
