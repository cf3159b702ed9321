"""Encodings of text, for sheets and for pages: names that are read, byte order marks, and what undeclared bytes are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from forebay.services.encoding_guess import guess_codec

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

# Labels of the WHATWG standard and what browsers take them for, without marks between letters; others are ignored:
# Python knows codecs like zlib and punycode, too. Numbered series are in `_SERIES`.
_LABELS = {
    "utf_8": "utf8 unicode11utf8 unicode20utf8 xunicode20utf8",
    "utf_16_le": "utf16 utf16le unicode csunicode iso10646ucs2 ucs2 unicodefeff",
    "utf_16_be": "utf16be unicodefffe",
    "cp866": "866 cp866 csibm866 ibm866",
    "cp1252": "ascii usascii ansix341968 iso646us latin1 l1 csisolatin1 isoir100 cp819 ibm819 iso885911987",
    "iso8859_2": "latin2 l2 csisolatin2 isoir101 iso885921987",
    "iso8859_3": "latin3 l3 csisolatin3 isoir109 iso885931988",
    "iso8859_4": "latin4 l4 csisolatin4 isoir110 iso885941988",
    "iso8859_5": "cyrillic csisolatincyrillic isoir144 iso885951988",
    "iso8859_6": "arabic asmo708 ecma114 csisolatinarabic isoir127 iso885961987 iso88596e iso88596i csiso88596e "
    "csiso88596i",
    "iso8859_7": "greek greek8 ecma118 elot928 sungreek suneugreek csisolatingreek isoir126 iso885971987",
    "iso8859_8": "hebrew visual logical csisolatinhebrew isoir138 iso885981988 iso88598e iso88598i csiso88598e "
    "csiso88598i",
    "cp1254": "latin5 l5 csisolatin5 isoir148 iso885991989",
    "iso8859_10": "latin6 l6 csisolatin6 isoir157",
    "iso8859_15": "latin9 l9 csisolatin9",
    "koi8_r": "koi koi8 koi8r cskoi8r",
    "koi8_u": "koi8u koi8ru",
    "mac_roman": "macintosh mac macroman xmacroman csmacintosh",
    "mac_cyrillic": "maccyrillic xmaccyrillic xmacukrainian",
    "cp874": "tis620 dos874 cp874 windows874",
    "gb18030": "gb18030 gbk xgbk gb2312 csgb2312 gb231280 chinese csiso58gb231280 isoir58 cp936",
    "big5hkscs": "big5 big5hkscs cnbig5 xxbig5 csbig5 cp950",
    "euc_jp": "eucjp xeucjp ujis cseucpkdfmtjapanese",
    "iso2022_jp": "iso2022jp csiso2022jp",
    "cp932": "shiftjis sjis xsjis csshiftjis mskanji ms932 windows31j cp932",
    "cp949": "euckr cseuckr korean ksc5601 ksc56011987 ksc56011989 csksc56011987 isoir149 windows949 cp949",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_SERIES = re.compile(r"(?:x?cp|windows)(125[0-8])|(?:iso|cs)?(?:iso)?8859(2|3|4|5|6|7|8|10|13|14|15|16|1|9|11)")
_RENAMED = {"iso8859_1": "cp1252", "iso8859_9": "cp1254", "iso8859_11": "cp874"}


def codec_name(label: str) -> str | None:
    """Python's name for an encoding that texts may be in, whatever way it is spelled; None for all others."""
    key = re.sub(r"[^a-z0-9]", "", label.lower())
    if found := _SERIES.fullmatch(key):
        codec = f"cp{found[1]}" if found[1] else f"iso8859_{found[2]}"
        return _RENAMED.get(codec, codec)
    return _CODECS.get(key)


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
