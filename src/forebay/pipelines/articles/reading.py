"""Reads untrusted files of articles: Markdown, HTML, text, PDF, and ZIP files of these. For a limited process."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from forebay.errors import DataError
from forebay.pipelines.articles.html_text import markdown_of

SUFFIXES = (".md", ".markdown", ".html", ".htm", ".txt", ".pdf", ".zip")
_TEXTS = SUFFIXES[:5]

MOST_ENTRIES = 5000  # of a ZIP file
MOST_BYTES = 32 << 20  # of one file, inflated
MOST_TOTAL = 128 << 20  # of all texts of a ZIP file
_BOMB = 200  # times as large as it is compressed
_SMALL = 1 << 20  # is no bomb

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FoundText:
    """An article in a file; `problem` says why it cannot be read."""

    name: str
    title: str = ""
    content: str = ""
    problem: str | None = None


def read_file(path: Path, name: str) -> list[FoundText]:
    """The articles of a file, in the order of their names.

    Raises: DataError if the file itself cannot be read.
    """
    if name.lower().endswith(".zip"):
        return list(_read_zip(path))
    if path.stat().st_size > MOST_BYTES:
        raise DataError(f"the file has more than {MOST_BYTES} bytes")
    found = _read(name, path.read_bytes())
    if found.problem is not None:
        raise DataError(found.problem)
    return [found]


def _read_zip(path: Path) -> Iterator[FoundText]:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_ENTRIES:
                raise DataError(f"the ZIP file has {len(entries)} entries; {MOST_ENTRIES} are allowed")
            left = MOST_TOTAL
            for entry in sorted(entries, key=lambda each: each.filename):
                if not entry.filename.lower().endswith(SUFFIXES):
                    continue  # pictures and the like
                found = _read_entry(archive, entry)
                left -= len(found.content)
                if left < 0:
                    raise DataError(f"the texts of the ZIP file have more than {MOST_TOTAL} characters")
                yield found
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise DataError("the ZIP file is damaged") from error


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> FoundText:
    name, problem = entry.filename, _refusal(entry)
    if problem is not None:
        return FoundText(name, problem=problem)
    try:
        with archive.open(entry) as file:
            data = file.read(MOST_BYTES + 1)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError, ValueError) as error:
        return FoundText(name, problem=f"cannot be unpacked: {type(error).__name__}")
    if len(data) > MOST_BYTES:
        return FoundText(name, problem=f"has more than {MOST_BYTES} bytes")
    return _read(name, data)


def _refusal(entry: zipfile.ZipInfo) -> str | None:
    """Why an entry is not read. Nothing is ever unpacked to a file; such entries are made to do harm."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or re.match(r"^[A-Za-z]:", entry.filename):
        return "has a path that leads out of the archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "is a link"
    if entry.flag_bits & 1:
        return "is protected by a password"
    if entry.filename.lower().endswith(".zip"):
        return "is a ZIP file inside of another"
    if entry.file_size > _SMALL and entry.file_size > _BOMB * max(entry.compress_size, 1):
        return f"is {_BOMB} times as large as it is compressed"
    return None


def _read(name: str, data: bytes) -> FoundText:
    stem = PurePosixPath(name.replace("\\", "/")).stem
    if not name.lower().endswith((*_TEXTS, ".pdf")):
        return FoundText(name, problem=f"is none of {', '.join(SUFFIXES)}")
    try:
        if name.lower().endswith(".pdf"):
            return _read_pdf(name, stem, data)
        text = _decoded(data)
        if name.lower().endswith((".html", ".htm")):
            title, content = markdown_of(text)
        else:
            heading = _HEADING.search(text) if not name.lower().endswith(".txt") else None
            title, content = (heading[1] if heading else ""), text
    except DataError as error:
        return FoundText(name, problem=str(error))
    return FoundText(name, _one_line(title) or stem, content)


def _read_pdf(name: str, stem: str, data: bytes) -> FoundText:
    from forebay.services.pdf import read_text  # noqa: PLC0415 - an extra

    found = read_text(data)
    return FoundText(name, _one_line(found.title or "") or stem, found.text)


def _decoded(data: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 with a mark, or Windows-1252."""
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text.replace("\r\n", "\n")
    raise DataError("is not text in UTF-8, UTF-16 or Windows-1252")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:500]
