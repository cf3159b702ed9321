"""Detects the encoding of a text file: by its first bytes, else by reading all of it once."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO

from forebay.errors import DataError
from forebay.services.encodings import detection
from forebay.services.encodings.labels import codec_name

_CHUNK = 1 << 20
_UNMARKED = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def find_encoding(source: IO[bytes]) -> tuple[str, int]:
    """The encoding, and the length of the byte order mark.

    A file with mostly UTF-8 lines is UTF-8; the others become bad rows.
    Raises: ConfigError when a required package is missing.
    """
    encoding, mark = find_mark(source)
    if encoding is not None:
        return encoding, mark
    source.seek(0)
    head = source.read(detection.SAMPLE)
    source.seek(0)
    return detection.guess(_chunks(source), head).replace("_", "-"), 0


def find_mark(source: IO[bytes]) -> tuple[str | None, int]:
    """The encoding of a byte order mark, and the length of the mark."""
    source.seek(0)
    codec, length = detection.find_mark(source.read(4))
    return codec and codec.replace("_", "-"), length


def known_encoding(name: str, marked: str | None = None) -> str:
    """Python's name of an encoding; if it leaves the byte order open, the file's mark decides.

    Raises: DataError for an unknown encoding, or one without line ends.
    """
    if name.lower().replace("_", "-") in {"utf-16", "utf-32", "utf-8-sig"}:
        wanted = name.lower().replace("_", "-").removesuffix("-sig")
        return marked if marked and marked.startswith(wanted) else known_encoding(_UNMARKED[wanted])
    if codec := codec_name(name):
        return codecs.lookup(codec).name
    try:
        found = codecs.lookup(name)
        plain = "\n".encode(found.name) in (b"\n", b"\n\0", b"\0\n", b"\n\0\0\0", b"\0\0\0\n")
    except (LookupError, UnicodeError, TypeError, ValueError):
        plain = False
    else:
        plain = plain and found.name not in {"utf-7", "hz", "idna", "punycode"} and "2022" not in found.name
    if not plain:
        raise DataError(f"encoding: {name[:40]!r} is not supported; try utf-8, utf-16-le, cp1252 or shift_jis")
    return codecs.lookup(name).name


def _chunks(source: IO[bytes]) -> Iterator[bytes]:
    while chunk := source.read(_CHUNK):
        yield chunk
