"""Detects the kind of a file by its content: names and media types are not trusted."""

from __future__ import annotations

import json
import zipfile
from typing import IO, Literal, NamedTuple, TypeAlias

from forebay.errors import DataError
from forebay.services.encodings import find_mark, looks_wide
from forebay.services.spreadsheets.archives import PICTURES, WORKBOOK, opened, pictures, translating_errors

FileKind: TypeAlias = Literal["csv", "jsonl", "xlsx", "image", "images", "unknown"]

_HEAD = 64 << 10
_LOOKED_AT = 20  # entries of an archive that are checked
_BINARY = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1a\x1b")) + b"\x7f"
_OTHERS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a workbook in an old format, or with a password: save it as .xlsx"),
    (b"%PDF-", "is a PDF: only tables and images are supported"),
    (b"\x1f\x8b", "is compressed with gzip: decompress it first"),
    (b"Rar!", "is a RAR archive: use ZIP"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive: use ZIP"),
)


class Detected(NamedTuple):
    """The kind; for an unsupported one, the reason and what to do."""

    kind: FileKind
    reason: str = ""


def detect(source: IO[bytes]) -> Detected:
    """Detect the kind of a file."""
    source.seek(0)
    head = source.read(_HEAD)
    if not head:
        return Detected("unknown", "is empty")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _archive(source)
    if is_image(head):
        return Detected("image")
    for start, reason in _OTHERS:
        if head.startswith(start):
            return Detected("unknown", reason)
    return _text(source, head)


def is_image(head: bytes) -> bool:
    """Whether a file with these first bytes is a supported image."""
    return (
        head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"\0\0\1\0"))
        or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
        or (head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis"))
        or (head[:2] == b"BM" and len(head) > 26 and head[6:10] == b"\0\0\0\0")
    )


def _archive(source: IO[bytes]) -> Detected:
    try:
        with opened(source, PICTURES) as archive:
            if "[Content_Types].xml" in archive.NameToInfo:
                return _office(archive.NameToInfo)
            listed = pictures(archive)
            if listed and all(_is_picture(archive, one.name) for one in listed[:_LOOKED_AT]):
                return Detected("images")
    except DataError as error:
        # An invalid workbook is refused with the reason when it is opened.
        return Detected("unknown", str(error))
    return Detected("unknown", "is an archive with files other than images")


def _office(names: dict[str, zipfile.ZipInfo]) -> Detected:
    if any(name.startswith("xl/") and name.endswith(".bin") and "workbook" in name for name in names):
        return Detected("unknown", "is a binary workbook: save it as .xlsx")
    if any(name.startswith("xl/") for name in names):
        if len(names) > WORKBOOK.entries:
            return Detected("unknown", f"has {len(names)} entries; {WORKBOOK.entries} are allowed")
        return Detected("xlsx")
    return Detected("unknown", "is a document, not a workbook")


def _is_picture(archive: zipfile.ZipFile, name: str) -> bool:
    with translating_errors(), archive.open(name) as entry:
        return is_image(entry.read(64))


def _text(source: IO[bytes], head: bytes) -> Detected:
    encoding, _ = find_mark(source)
    if encoding is None and not looks_wide(head):
        strange = len(head) - len(head.translate(None, _BINARY))
        if strange * 20 > len(head) + 200:
            return Detected("unknown", "is neither a table, nor an image, nor an archive of images")
    start = head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")[:200].replace(b"\0", b"").lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<svg", b"<table")):
        return Detected("unknown", "is HTML or XML, whatever its name: save it as .xlsx or CSV")
    return Detected("jsonl" if _is_json(head) else "csv")


def _is_json(head: bytes) -> bool:
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    if not line.startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return len(line) >= _HEAD // 2  # a long first line is incomplete here
    return True
