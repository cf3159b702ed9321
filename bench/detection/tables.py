"""How CSV files are written: delimiter, quote, header and encoding of files from other projects, cut to 6 KiB."""

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.detection.score import Corpora, Score
from forebay.errors import DataError
from forebay.services.spreadsheets import BadRow, CsvLayout
from forebay.services.spreadsheets.csv_file import CsvReader, look_at_csv

_SNIFFER = "ws-garcia+CSVsniffer"
_FOLDERS = {"pollock": "CSV", "wrangling": "CSV_Wrangling/data/github/Curated files", "csvw": "W3C-CSVW"}
_CUT = 6144
_MISSPELLED = {"ansi": "cp1252", "shif-jis": "cp932", "gb2312": "gb18030"}


class Found(NamedTuple):
    """What was made of a case: nothing where the whole file was refused."""

    case: dict[str, Any]
    data: bytes
    layout: CsvLayout | None
    good: int
    bad: int

    @property
    def lost_all(self) -> bool:
        return self.good == 0 and (self.bad > 1 or (self.layout is None and self.data.count(b"\n") > 1))


def measure(corpora: Corpora) -> list[Score]:
    found = list(results(corpora))
    return [
        *_delimiters(found),
        *_headers(found),
        _share("single quotes", [has_quote(one, "'") for one in found if one.case.get("quote") == "'"], 0.85, 0.95),
        _share("double quotes", [has_quote(one, '"') for one in found if one.case.get("quote") == '"']),
        _share("encoding, not ASCII", [is_decoded(one) for one in found if _has_encoding(one)]),
        Score("files that lose all rows", sum(one.lost_all for one in found), len(found), 5 / 651, 0.0, at_most=True),
    ]


def results(corpora: Corpora) -> Iterator[Found]:
    with zipfile.ZipFile(corpora.cases / "csv" / "files.zip") as files:
        cases: list[dict[str, Any]] = json.loads((corpora.cases / "csv" / "cases.json").read_bytes())
        for case in cases:
            data = _data(corpora, files, case)
            if data is not None:
                yield _found(case, data)


def has_delimiter(one: Found) -> bool:
    return one.layout is not None and one.layout.delimiter == one.case["delimiter"]


def has_quote(one: Found, quote: str) -> bool:
    return one.layout is not None and getattr(one.layout, "quote", '"') == quote


def has_header(one: Found) -> bool:
    return one.layout is not None and one.layout.has_header == one.case["header"]


def is_decoded(one: Found) -> bool:
    """Whether the text is the same."""
    if one.layout is None:
        return False
    named = _MISSPELLED.get(one.case["encoding"], one.case["encoding"])
    expected = one.data.decode(named, "replace").removeprefix("\ufeff")
    return one.data.decode(one.layout.encoding, "replace").removeprefix("\ufeff") == expected


def _has_encoding(one: Found) -> bool:
    return bool(one.case.get("encoding")) and not one.data.isascii()


def _found(case: dict[str, Any], data: bytes) -> Found:
    source = io.BytesIO(data)
    try:
        layout = look_at_csv(source)
        rows = Counter(isinstance(row, BadRow) for row in CsvReader(source, layout))
    except DataError:
        return Found(case, data, None, 0, 0)
    return Found(case, data, layout, rows[False], rows[True])


def _delimiters(found: list[Found]) -> Iterator[Score]:
    chosen = [one for one in found if "delimiter" in one.case]
    yield _share("delimiter", list(map(has_delimiter, chosen)), 0.97, 0.99)
    for source in _FOLDERS:
        yield _share(f"delimiter: {source}", [has_delimiter(one) for one in chosen if one.case["source"] == source])


def _headers(found: list[Found]) -> Iterator[Score]:
    chosen = [one for one in found if "header" in one.case]
    yield _share("header", list(map(has_header, chosen)), 0.93, 0.96)
    yield _share("header: files with one", [has_header(one) for one in chosen if one.case["header"]])
    yield _share("header: files without", [has_header(one) for one in chosen if not one.case["header"]])


def _share(what: str, right: list[bool], bar: float | None = None, aim: float | None = None) -> Score:
    return Score(what, sum(right), len(right), bar, aim)


def _data(corpora: Corpora, files: zipfile.ZipFile, case: dict[str, Any]) -> bytes | None:
    if case["source"] not in _FOLDERS:
        return files.read(f"{case['id']}.csv")
    whole = corpora.source_file(_SNIFFER, f"{_FOLDERS[case['source']]}/{case['name']}")
    if whole is None and case["source"] == "csvw":  # most of these are only in the repository that they come from
        whole = corpora.source_file("w3c+csvw", f"tests/{case['name']}")
    return None if whole is None else _cut(whole, case["sha"])


def _cut(whole: bytes, digest: str) -> bytes:
    """The first 6 KiB, or up to the end of that line with which they were cut."""
    head = whole[:_CUT]
    ends = [len(head), *(at + 1 for at in range(len(head) - 1, -1, -1) if head[at] in b"\n\r")]
    cuts = (head[:end] for end in ends)
    return next((cut for cut in cuts if hashlib.sha256(cut).hexdigest().startswith(digest)), head)
