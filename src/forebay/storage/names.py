"""Sanitizes names and media types of files."""

from __future__ import annotations

import mimetypes
import re
import unicodedata

UNKNOWN = "application/octet-stream"

_LONGEST = 255
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")

# Types that browsers may show inline: none can run scripts, unlike SVG and HTML.
_SHOWN = frozenset(
    (
        "application/pdf",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/mpeg",
        "audio/ogg",
        "audio/wav",
        "audio/webm",
        "image/avif",
        "image/bmp",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/vnd.microsoft.icon",
        "image/webp",
        "image/x-icon",
        "text/plain",
        "video/mp4",
        "video/ogg",
        "video/quicktime",
        "video/webm",
    )
)


def file_name(name: str) -> str:
    """A name without folders and invisible characters; never empty."""
    last = re.split(r"[/\\]", name)[-1]
    seen = "".join(" " if char.isspace() else char for char in last if char.isspace() or _is_seen(char))
    kept = " ".join(seen.split()).strip(". ")
    if len(kept) > _LONGEST:
        stem, dot, suffix = kept.rpartition(".")
        suffix = dot + suffix if stem and len(suffix) <= 16 else ""
        kept = kept[: _LONGEST - len(suffix)] + suffix
    return kept or "file"


def _is_seen(char: str) -> bool:
    """Not a control character, surrogate, or bidirectional mark."""
    return unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"}


def media_type(given: str | None, name: str) -> str:
    """A media type without parameters: the given one if it is valid, else a guess from the name."""
    plain = (given or "").partition(";")[0].strip().lower()
    if _MEDIA_TYPE.fullmatch(plain):
        return plain
    return (mimetypes.guess_type(name, strict=True)[0] or UNKNOWN) if not plain else UNKNOWN


def is_shown(kind: str) -> bool:
    """Whether a browser may show this type inline."""
    return kind in _SHOWN


def served_type(kind: str) -> str:
    """The Content-Type of a response: types that could run scripts become application/octet-stream."""
    if not is_shown(kind):
        return UNKNOWN
    return "text/plain; charset=utf-8" if kind == "text/plain" else kind
