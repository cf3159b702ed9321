"""Tables made for tests, and what is read from them."""

from __future__ import annotations

import io
import zipfile
from typing import IO, Any

from forebay.services.spreadsheets import AnyRow, BadRow, Cursor, Row, look_at, read_rows

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def file(data: str | bytes) -> IO[bytes]:
    return io.BytesIO(data.encode() if isinstance(data, str) else data)


def read(data: str | bytes, start: Cursor | None = None, **told: Any) -> list[AnyRow]:
    source = file(data)
    with read_rows(source, look_at(source, **told), start) as reader:
        return list(reader)


def good(data: str | bytes, **told: Any) -> list[dict[str, str]]:
    return [row.cells for row in read(data, **told) if isinstance(row, Row)]


def bad(data: str | bytes, **told: Any) -> list[tuple[int, str]]:
    return [(row.line, row.reason) for row in read(data, **told) if isinstance(row, BadRow)]


def workbook(
    rows: str,
    *,
    strings: str | None = None,
    styles: str = "",
    sheets: dict[str, str] | None = None,
    about: str = "",
) -> bytes:
    """A workbook of that XML, as other programs write it."""
    named = {"Sheet1": rows, **(sheets or {})}
    numbered = list(enumerate(named.items(), 1))
    parts = {
        "_rels/.rels": _relations(("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}">{about}<sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, (name, _) in numbered)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            *((f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n, _ in numbered),
            ("rIdA", "sharedStrings", "/xl/sharedStrings.xml"),
            ("rIdB", "styles", "styles.xml"),
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>',
        "[Content_Types].xml": "<Types/>",
        **{
            f"xl/worksheets/sheet{n}.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{xml}</sheetData></worksheet>'
            for n, (_, xml) in numbered
        },
    }
    if strings is not None:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{_MAIN}">{strings}</sst>'
    return archive({name: text.encode() for name, text in parts.items()})


def archive(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return out.getvalue()


def _relations(*ones: tuple[str, str, str]) -> str:
    listed = "".join(f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for key, kind, to in ones)
    return f'<Relationships xmlns="{_PACKAGE}">{listed}</Relationships>'
