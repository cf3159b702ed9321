"""Encodings of text: labels, detection, and decoding of pages and files.

labels      labels of encodings → Python's codecs
detection   byte order marks, UTF-8, UTF-16, else the most likely (`ranking`)
pages       bytes and declared encodings of a page → text
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
