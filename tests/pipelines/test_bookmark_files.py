"""Files of bookmarks: those that browsers and Pocket write are read, those that we write are read back the same."""

from __future__ import annotations

import contextlib
import html
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import InvalidField
from forebay.pipelines.bookmarks import files as bookmark_files
from forebay.pipelines.bookmarks.files import BookmarkFile, Entry, Format, read

FIREFOX = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'"></meta>
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks Menu</H1>

<DL><p>
    <DT><A HREF="https://example.org/first" ADD_DATE="1700000000" TAGS="one,two">First &amp; foremost</A>
    <DT><H3 ADD_DATE="1600000000" LAST_MODIFIED="1600000001">Rivers</H3>
    <DD>What flows
    <DL><p>
        <DT><A HREF="https://example.org/dam?a=1&amp;b=2" ADD_DATE="1700000001000000">A <b>dam</b></A>
        <DD>Holds &lt;water&gt;
    back
        <DT><H3>Deltas</H3>
        <DL><p>
            <DT><A HREF="https://example.org/delta">Delta</A>
        </DL><p>
        <DT><A HREF="javascript:alert(1)">Bookmarklet</A>
        <DT><A HREF="place:sort=8">Recent</A>
    </DL><p>
    <DT><A HREF="https://example.org/last"></A>
</DL>
"""

POCKET_HTML = """<!DOCTYPE html><html><head><title>Pocket Export</title></head><body>
<h1>Unread</h1><ul>
<li><a href="https://example.org/unread" time_added="1700000000" tags="a,b">Unread one</a></li>
</ul><h1>Read Archive</h1><ul>
<li><a href="https://example.org/read" time_added="1700000001" tags="">Read one</a></li>
</ul></body></html>"""

POCKET_CSV = """title,url,time_added,tags,status
"Comma, quoted",https://example.org/1,1700000000,a|b c,unread
https://example.org/2,https://example.org/2,1700000001,,archive
,,1,,unread
"""


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_what_browsers_write() -> None:
    assert list(read(FIREFOX.encode())) == [
        Entry("https://example.org/first", "First & foremost", tags=("one", "two"), added_at=at(1700000000)),
        Entry(
            "https://example.org/dam?a=1&b=2",
            "A dam",
            "Holds <water> back",
            category="Rivers",
            added_at=at(1700000001),
        ),
        Entry("https://example.org/delta", "Delta", category="Deltas"),
        Entry("https://example.org/last"),
    ]


def test_what_pocket_writes() -> None:
    assert list(read(POCKET_HTML.encode())) == [
        Entry("https://example.org/unread", "Unread one", tags=("a", "b"), added_at=at(1700000000)),
        Entry("https://example.org/read", "Read one", added_at=at(1700000001), archived=True),
    ]
    assert list(read(b"\xef\xbb\xbf" + POCKET_CSV.encode())) == [
        Entry("https://example.org/1", "Comma, quoted", tags=("a", "b c"), added_at=at(1700000000)),
        Entry("https://example.org/2", "https://example.org/2", added_at=at(1700000001), archived=True),
    ]


def test_json_of_others_and_times_that_cannot_be_read() -> None:
    text = """[{"url": "https://example.org/1", "tags": "a, b", "added_at": "yesterday"},
               {"url": "https://example.org/2", "tags": [1, "x"], "addedAt": "2026-01-02", "archived": true}]"""
    assert list(read(text.encode("utf-16"))) == [
        Entry("https://example.org/1", tags=("a", "b")),
        Entry("https://example.org/2", tags=("1", "x"), added_at=datetime(2026, 1, 2, tzinfo=UTC), archived=True),
    ]


def test_entries_that_cannot_be_are_kept_as_errors_of_their_own() -> None:
    found = list(read(b'[{"title": "x"}, 7, {"url": 5}, {"url": "https://example.org"}]'))
    assert [entry.url for entry in found] == ["", "", "", "https://example.org"]


def test_bytes_of_no_encoding_are_read_as_old_browsers_wrote_them() -> None:
    assert next(read(b'<DT><A HREF="https://example.org/">caf\xe9</A>')).title == "café"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'url,title\nhttps://example.org,"' + b"x" * (5 << 20) + b'"\n', "line 2 is longer than 4 MiB"),
        (b'url,title\nhttps://example.org,"a"b\n', 'line 2 has a quote inside a quoted cell: write it twice ("")'),
        (b"url,title\na,b,c\n", "line 2 has 3 cells, but there are 2 columns"),
        (b'[{"url": "https://example.org/"}, 7]', "is not an object with a url"),
    ],
)
def test_a_bad_entry_is_kept_with_the_reason_and_costs_no_other(data: bytes, reason: str) -> None:
    *_, last = read(data)
    assert (last.url, last.fault) == ("", reason)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not a bookmarks file of a browser (HTML) or Pocket (CSV or HTML), nor JSON"),
        (b"PK\x03\x04 a zip", "is not a bookmarks file of a browser (HTML) or Pocket (CSV or HTML), nor JSON"),
        (b"<html><body>no links</body></html>", "has no bookmarks"),
        (b"[]", "has no bookmarks"),
        (b"[{", "is not JSON: "),
        (b"[" * 100_000, "is not JSON: "),
        (b'{"links": []}', 'must be a list of bookmarks, or an object with a list "bookmarks"'),
        (b'url,"title\n', "line 1 has a quote that is not closed"),
    ],
)
def test_what_is_no_file_of_bookmarks(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidField) as refused:
        list(read(data))
    assert str(refused.value).startswith(f"file: {reason}")


def test_long_notes_and_headers_in_capitals_are_read() -> None:
    [found] = read(b'URL,Note\nhttps://example.org,"' + b"x" * 200_000 + b'"\n')
    assert found == Entry("https://example.org", note="x" * 200_000)


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bookmark_files, "MOST_ENTRIES", 2)
    with pytest.raises(InvalidField, match="has more than 2 bookmarks: split it"):
        list(read(b'[{"url": "a"}, {"url": "b"}, {"url": "c"}]'))


def written(kind: Format, entries: list[Entry]) -> bytes:
    file = BookmarkFile(kind)
    return "".join([file.head(), *map(file.entry, entries), file.tail()]).encode()


words = st.lists(st.text("abcXYZ äöü&<>\"'=+-@", min_size=1, max_size=12).map(str.strip).filter(bool), max_size=3)
whole = st.builds(
    Entry,
    url=st.text("abc/?=&%", min_size=1, max_size=20).map(lambda path: f"https://example.org/{path}"),
    title=words.map(lambda given: " ".join(" ".join(given).split()) or None),
    note=st.text("ab \t\n<&\"'=", max_size=20).map(str.strip).map(lambda note: note or None),
    tags=st.lists(
        st.text("abc äö&<\"',;", min_size=1, max_size=8).map(str.strip).filter(bool), unique=True, max_size=3
    ).map(tuple),
    category=st.sampled_from([None, "Rivers & lakes", "<b>"]),
    added_at=st.integers(0, 2**31).map(at),
    archived=st.booleans(),
)


@given(st.lists(whole, min_size=1, max_size=8), st.sampled_from(["html", "csv", "json"]))
def test_what_is_written_is_read_back(entries: list[Entry], kind: Any) -> None:
    """All of it: the archive, lines of notes, and commas in tags included."""
    entries.sort(key=lambda entry: entry.category or "")
    found = list(read(written(kind, entries)))
    assert found == entries


def test_other_programs_find_what_they_know() -> None:
    entry = Entry("https://example.org/", None, "one\n\ntwo", ("a, b", "c"), added_at=at(7), archived=True)
    lines = written("html", [entry]).decode().splitlines()[-5:-1]
    rest = {"archived": True, "note": "one\n\ntwo", "tags": ["a, b", "c"], "title": None}
    link = '<A HREF="https://example.org/" ADD_DATE="7" TAGS="a, b,c" DATA-FOREBAY="{}">https://example.org/</A>'
    assert lines == [f"    <DT>{link.format(html.escape(json.dumps(rest)))}", "    <DD>one", "", "two"]
    plain = written("html", [Entry("https://example.org/", "A title", "a note", ("a", "b"))]).decode()
    assert "DATA-FOREBAY" not in plain


@pytest.mark.parametrize("rest", ["{", "[]", "7", "[" * 100_000, '{"tags": 7, "archived": "no"}', ""])
def test_what_cannot_be_read_of_the_rest_is_left_out(rest: str) -> None:
    text = f"""<DT><A HREF="https://example.org/" TAGS="a,b" DATA-FOREBAY='{rest}'>A title</A>\n<DD>a note"""
    assert list(read(text.encode())) == [Entry("https://example.org/", "A title", "a note", ("a", "b"))]


@given(st.binary(max_size=400))
def test_no_bytes_break_it(data: bytes) -> None:
    with contextlib.suppress(InvalidField):
        list(read(data))


def test_formulas_are_harmless() -> None:
    line = written("csv", [Entry("https://example.org", '=HYPERLINK("x")', "+1+2")]).decode().splitlines()[1]
    assert line.startswith('"\'=HYPERLINK(""x"")"')
    assert ",'+1+2," in line


def test_kinds_have_their_media_type() -> None:
    assert [bookmark_files.media_type(kind) for kind in ("html", "csv", "json")] == [
        "text/html; charset=utf-8",
        "text/csv; charset=utf-8",
        "application/json",
    ]
