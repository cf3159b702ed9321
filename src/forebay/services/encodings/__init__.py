"""Encodings of text: what labels mean, what undeclared bytes are, and the text of pages and files.

labels      names as servers, pages and people write them → Python's codecs
detection   byte order marks, UTF-8, UTF-16, and otherwise the likeliest (`ranking`)
pages       bytes of a page and what was said about them → text
files       the encoding of a file that may be large
"""

from __future__ import annotations

from forebay.services.encodings.detection import guess, looks_wide
from forebay.services.encodings.files import find_encoding, find_mark, known_encoding
from forebay.services.encodings.labels import codec_name
from forebay.services.encodings.pages import Decoded, decode_page

__all__ = [
    "Decoded",
    "codec_name",
    "decode_page",
    "find_encoding",
    "find_mark",
    "guess",
    "known_encoding",
    "looks_wide",
]
