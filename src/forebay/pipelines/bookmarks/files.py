"""Reads and writes bookmark files of browsers, Pocket and forebay."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard

from forebay.errors import DataError, InvalidField
from forebay.services.spreadsheets import BadRow, unescaped
from forebay.services.spreadsheets.cells import escaped_text
from forebay.services.spreadsheets.csv_file import CsvReader, look_at_csv

Format: TypeAlias = Literal["html", "csv", "json"]

MOST_ENTRIES = 200_000
_MEDIA_TYPES: dict[Format, str] = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A bookmark in a file."""

    url: str
    title: str | None = None
    note: str | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    added_at: datetime | None = None
    archived: bool = False
    fault: str | None = None  # why it could not be read


def media_type(kind: Format) -> str:
    return _MEDIA_TYPES[kind]


# Reading.


def read(data: bytes) -> Iterator[Entry]:
    """The bookmarks of a file, in order; the format is detected.

    Raises: InvalidField for an unknown format, or a file without bookmarks.
    """
    text = _text(data)
    head = text[:2000].lstrip().lower()
    if head.startswith(("[", "{")):
        entries = _from_json(text)
    elif "url" in head.partition("\n")[0].strip().replace('"', "").split(","):
        entries = _from_csv(text)
    elif head.startswith("<") or "<a " in head:
        entries = _from_html(text)
    else:
        raise InvalidField("file", "is not a bookmarks file of a browser (HTML) or Pocket (CSV or HTML), nor JSON")
    return _counted(entries)


def read_file(path: Path) -> list[Entry]:
    """The bookmarks of a file on disk as a list: for a limited process, because the file is untrusted.

    Raises: DataError for an invalid file.
    """
    try:
        return list(read(path.read_bytes()))
    except InvalidField as error:
        raise DataError(error.reason) from error


def _text(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"):
        try:
            return data.decode(encoding)
        except UnicodeError:
            continue
    return data.decode("cp1252", "replace")  # written by old browsers on Windows


def _counted(entries: Iterator[Entry]) -> Iterator[Entry]:
    count = 0
    for count, entry in enumerate(entries, 1):
        if count > MOST_ENTRIES:
            raise InvalidField("file", f"has more than {MOST_ENTRIES} bookmarks: split it")
        yield entry
    if count == 0:
        raise InvalidField("file", "has no bookmarks")


class _Netscape(HTMLParser):
    """Browsers nest lists of links under headings and leave many tags open; Pocket writes plain lists."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Entry] = []
        self._folders: list[str | None] = []
        self._heading: str | None = None
        self._link: dict[str, str] | None = None
        self._words: list[str] | None = None
        self._noting = False
        self._archived = False
        self._notable = False  # whether a note belongs to the last link

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_note()
        if tag == "a":
            self._link, self._words = {name: value or "" for name, value in attrs}, []
        elif tag in ("h1", "h3"):
            self._words = []
        elif tag == "dl":
            self._folders.append(self._heading)
            self._heading = None
        elif tag == "dd":
            self._noting, self._words = True, []

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            self._keep(self._link, self._read())
            self._link = None
        elif tag == "h3":
            self._heading, self._notable = self._read() or None, False
        elif tag == "h1":
            self._archived, self._notable = self._read() == "Read Archive", False  # the heading in Pocket's files
        elif tag == "dl":
            self._end_note()
            if self._folders:
                self._folders.pop()

    def handle_data(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)

    def close(self) -> None:
        super().close()
        self._end_note()

    def _read(self) -> str:
        text, self._words = _plain("".join(self._words or ())), None
        return text

    def _keep(self, link: Mapping[str, str], title: str) -> None:
        folder = next((name for name in reversed(self._folders) if name), None)
        entry = Entry(
            link.get("href", ""),
            title or None,
            tags=_tags(link.get("tags", "")),
            category=folder,
            added_at=_moment(link.get("add_date") or link.get("time_added")),
            archived=self._archived,
        )
        entry = _completed(entry, link.get(_REST.lower(), ""))
        self._notable = entry.note is None
        self.found.append(entry)

    def _end_note(self) -> None:
        """A note has no end tag: it ends where the next element begins."""
        if self._noting:
            self._noting = False
            note = self._read()
            if note and self._notable:
                self.found[-1] = replace(self.found[-1], note=note)


_REST = "DATA-FOREBAY"  # other fields as JSON; other programs ignore this attribute


def _plain(text: str) -> str:
    """The text with white space collapsed, as in HTML."""
    return " ".join(text.split())


def _rest(entry: Entry) -> dict[str, Any]:
    """The fields that the usual attributes cannot represent."""
    rest: dict[str, Any] = {}
    if entry.archived:
        rest["archived"] = True
    if entry.note is not None and _plain(entry.note) != entry.note:
        rest["note"] = entry.note
    if _tags(",".join(entry.tags)) != entry.tags:
        rest["tags"] = entry.tags
    if _plain(entry.title or entry.url) != entry.title:
        rest["title"] = entry.title
    return rest


def _completed(entry: Entry, rest: str) -> Entry:
    """The entry with the fields from `_rest`; invalid ones are left out."""
    try:
        said: Any = json.loads(rest) if rest else None
    except (ValueError, RecursionError):
        return entry
    if not _is_object(said):
        return entry
    tags = said.get("tags")
    return replace(
        entry,
        title=_maybe_text(said["title"]) if "title" in said else entry.title,
        note=_maybe_text(said.get("note")),
        tags=tuple(map(str, tags)) if _is_list(tags) else entry.tags,
        archived=entry.archived or said.get("archived") is True,
    )


def _from_html(text: str) -> Iterator[Entry]:
    parser = _Netscape()
    parser.feed(text)
    parser.close()
    return (entry for entry in parser.found if entry.url and not entry.url.lower().startswith(_NO_PAGES))


# Browsers store these among their bookmarks; they are not web pages.
_NO_PAGES = ("javascript:", "place:", "about:", "chrome:", "edge:", "file:", "data:", "feed:")


def _from_csv(text: str) -> Iterator[Entry]:
    source = io.BytesIO(text.encode())
    try:
        layout = look_at_csv(source, header=True, encoding="utf-8", delimiter=",")
    except DataError as error:
        raise InvalidField("file", str(error)) from error
    for row in CsvReader(source, layout):
        if isinstance(row, BadRow):
            yield Entry("", fault=f"line {row.line} {row.reason}")
            continue
        cells = {name.lower(): unescaped(cell) for name, cell in row.cells.items()}
        if url := cells.get("url", "").strip():
            tags = cells.get("tags", "")
            yield Entry(
                url,
                cells.get("title") or None,
                cells.get("note") or None,
                _tags(tags, "|" if "|" in tags else ","),
                cells.get("category") or None,
                _moment(cells.get("time_added") or cells.get("added_at")),
                archived=cells.get("status", "").lower() == "archive",
            )


def _from_json(text: str) -> Iterator[Entry]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidField("file", f"is not JSON: {error}") from error
    listed = value.get("bookmarks") if _is_object(value) else value
    if not _is_list(listed):
        raise InvalidField("file", 'must be a list of bookmarks, or an object with a list "bookmarks"')
    for one in listed:
        # An invalid one becomes a failed item and does not affect the others.
        yield _from_object(one) if _is_object(one) else Entry("", fault="is not an object with a url")


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _from_object(one: dict[str, Any]) -> Entry:
    tags: Any = one.get("tags")
    url = one.get("url")
    return Entry(
        url if isinstance(url, str) else "",
        _maybe_text(one.get("title")),
        _maybe_text(one.get("note")),
        tuple(map(str, tags)) if _is_list(tags) else _tags(str(tags or "")),
        _maybe_text(one.get("category")),
        _moment(one.get("addedAt") or one.get("added_at")),
        archived=bool(one.get("archived")),
    )


def _maybe_text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _tags(text: str, between: str = ",") -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in text.split(between) if tag.strip()))


def _moment(given: object) -> datetime | None:
    """Seconds since the epoch, or a date; an invalid value is ignored."""
    if given in (None, ""):
        return None
    text = str(given).strip()
    try:
        if text.isdigit():
            seconds = int(text)
            while seconds > 100_000_000_000:  # some programs write milliseconds, some microseconds
                seconds //= 1000
            return datetime.fromtimestamp(seconds, UTC)
        when = datetime.fromisoformat(text)
    except (ValueError, OverflowError, OSError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


# Writing.

_COLUMNS = ("title", "url", "time_added", "tags", "status", "note", "category")
_HEADS: dict[Format, str] = {
    "html": (
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n"
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">\n'
        "<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n"
    ),
    "csv": ",".join(_COLUMNS) + "\r\n",
    "json": '{"bookmarks": [',
}
_TAILS: dict[Format, str] = {"html": "</DL><p>\n", "csv": "", "json": "\n]}\n"}


class BookmarkFile:
    """Writes a file in pieces, so that it is never whole in memory. The entries of a category must be consecutive."""

    def __init__(self, kind: Format) -> None:
        self._kind: Format = kind
        self._count = 0
        self._category: str | None = None

    def head(self) -> str:
        return _HEADS[self._kind]

    def entry(self, entry: Entry) -> str:
        """The piece of this bookmark."""
        self._count += 1
        match self._kind:
            case "html":
                return self._moved_to(entry.category) + _html(entry)
            case "csv":
                return _csv(entry)
            case "json":
                return f"{',' if self._count > 1 else ''}\n{_json(entry)}"

    def tail(self) -> str:
        return (self._moved_to(None) if self._kind == "html" else "") + _TAILS[self._kind]

    def _moved_to(self, category: str | None) -> str:
        """Close one folder and open another."""
        if category == self._category:
            return ""
        moved = "    </DL><p>\n" if self._category else ""
        if category:
            moved += f"    <DT><H3>{html.escape(category)}</H3>\n    <DL><p>\n"
        self._category = category
        return moved


def _html(entry: Entry) -> str:
    tags = f' TAGS="{html.escape(",".join(entry.tags))}"' if entry.tags else ""
    rest = _rest(entry)
    more = f' {_REST}="{html.escape(json.dumps(rest, ensure_ascii=False))}"' if rest else ""
    title = html.escape(entry.title or entry.url)
    line = f'    <DT><A HREF="{html.escape(entry.url)}" ADD_DATE="{_seconds(entry)}"{tags}{more}>{title}</A>\n'
    return line + (f"    <DD>{html.escape(entry.note)}\n" if entry.note else "")


def _csv(entry: Entry) -> str:
    line = io.StringIO()
    status = "archive" if entry.archived else "unread"
    tags = "|".join(entry.tags)
    if len(entry.tags) == 1 and "," in tags:
        tags += "|"  # otherwise it would be read as several tags
    row = (entry.title, entry.url, _seconds(entry), tags, status, entry.note, entry.category)
    csv.writer(line).writerow(map(escaped_text, row))
    return line.getvalue()


def _json(entry: Entry) -> str:
    value = {
        "url": entry.url,
        "title": entry.title,
        "note": entry.note,
        "tags": list(entry.tags),
        "category": entry.category,
        "addedAt": None if entry.added_at is None else entry.added_at.isoformat(),
        "archived": entry.archived,
    }
    return json.dumps(value, ensure_ascii=False)


def _seconds(entry: Entry) -> str:
    return "" if entry.added_at is None else str(int(entry.added_at.timestamp()))
