"""Files that want to do harm, or are just broken, and what is to be said of each."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from tests.services.spreadsheets._tables import archive, workbook

_HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>Name</t></is></c></row>'
_SHEET = "xl/worksheets/sheet1.xml"
NOTHING = "no match at catalogue"  # the reason of a row that was read


@dataclass(frozen=True)
class Hostile:
    """A file, what is wrong with all of it, or what becomes of each of its rows by their lines."""

    write: Callable[[Path], object]
    problem: str | None = None
    rows: dict[int, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def _bytes(data: bytes | Callable[[], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data if isinstance(data, bytes) else data())


def _long(head: bytes, part: bytes, size: int, tail: bytes) -> Callable[[Path], object]:
    """A large file that is never in memory."""

    def write(path: Path) -> None:
        block = part * ((1 << 20) // len(part))
        with path.open("wb") as file:
            file.write(head)
            for _ in range(size // len(block)):
                file.write(block)
            file.write(tail)

    return write


def _changed(change: Callable[[bytes], bytes], part: str = _SHEET, rows: str = "") -> bytes:
    """A workbook one part of which is another."""
    with zipfile.ZipFile(io.BytesIO(workbook(_HEADER + rows))) as made:
        entries = {entry.filename: made.read(entry) for entry in made.infolist()}
    entries[part] = change(entries[part])
    return archive(entries)


def _entities(declared: str, used: str) -> bytes:
    rows = f'<row r="2"><c r="A2" t="str"><v>{used}</v></c></row>'
    return _changed(lambda xml: declared.encode() + xml, rows=rows)


def _laughs() -> bytes:
    more = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return _entities(f'<!DOCTYPE x [<!ENTITY l0 "ha">{more}]>', "&l9;")


def _zeros(size: int) -> Iterator[bytes]:
    return (bytes(1 << 20) for _ in range(size >> 20))


def _packed(path: Path, name: str, size: int, more: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for other, data in more.items():
            made.writestr(other, data)
        with made.open(name, "w") as entry:
            entry.write(picture())
            for block in _zeros(size):
                entry.write(block)


def _workbook_bomb(path: Path) -> None:
    """Half a megabyte that unpacks to 521 MiB."""
    with zipfile.ZipFile(io.BytesIO(workbook(_HEADER))) as made:
        rest = {entry.filename: made.read(entry) for entry in made.infolist() if entry.filename != _SHEET}
    _packed(path, _SHEET, 521 << 20, rest)
    assert path.stat().st_size < 600_000


def _pixels(side: int = 20_000) -> bytes:
    """A picture of a few kilobytes that would need gigabytes."""
    packer = zlib.compressobj(9)
    line = bytes(1 + side // 8)
    data = b"".join(packer.compress(line) for _ in range(side)) + packer.flush()
    head = struct.pack("!IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))


def picture() -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(data, "PNG")
    return data.getvalue()


def _damaged() -> bytes:
    """A workbook whose directory is whole, but not its rows."""
    data = bytearray(workbook(_HEADER + "".join(f'<row><c t="str"><v>{n:x}</v></c></row>' for n in range(50_000))))
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        entry = made.getinfo(_SHEET)
    middle = entry.header_offset + entry.compress_size // 2
    data[middle : middle + 100] = bytes(100)
    return bytes(data)


_whole = workbook(_HEADER + '<row r="2"><c r="A2"><v>1</v></c></row>')
_no_doctype = r"xl/worksheets/sheet1\.xml declares a document type, which spreadsheets do not have"

HOSTILE = {
    "bomb.zip": Hostile(
        lambda path: _packed(path, "a.png", 63 << 20, {"b.png": picture()}),
        r"'a\.png' grows from \d+ to \d+ bytes when unpacked: more than 200 times is a bomb",
    ),
    "bomb.xlsx": Hostile(_workbook_bomb, r"'xl/worksheets/sheet1\.xml' grows from \d+ to \d+ bytes when unpacked"),
    "laughs.xlsx": Hostile(_bytes(_laughs), _no_doctype),
    "secrets.xlsx": Hostile(
        _bytes(_entities('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', "&e;")), _no_doctype
    ),
    "pixels.png": Hostile(_bytes(_pixels), rows={1: r"pixels\.png .*pixels"}),
    "pixels.zip": Hostile(
        _bytes(lambda: archive({"a.png": _pixels(), "b.png": picture()})), rows={1: r"a\.png .*pixels", 2: NOTHING}
    ),
    "columns.csv": Hostile(_long(b"", b"a,", 20_000_000, b"\n1,2\n"), "line 1 is longer than 4 MiB"),
    "wide.csv": Hostile(
        _bytes(b",".join(b"%d" % n for n in range(500_000)) + b"\n1\n"), "line 1 has 500000 cells; 16384 are allowed"
    ),
    "cells.csv": Hostile(
        _long(b"Name,B\nPen,2\n", b"1,", 20_000_000, b"\nInk,4\n"),
        rows={2: NOTHING, 3: "line 3 is longer than 4 MiB", 4: NOTHING},
    ),
    "line.csv": Hostile(
        _long(b"Name,B\nPen,2\n", b"x", 1 << 26, b"\nInk,4\n"),
        rows={2: NOTHING, 3: "line 3 is longer than 4 MiB", 4: NOTHING},
    ),
    "nul.csv": Hostile(
        _bytes(b"Name,B\nPen,2\nIn\0k,3\nGlue,4\n"), rows={2: NOTHING, 3: "line 3 has a NUL character", 4: NOTHING}
    ),
    "zeros.csv": Hostile(
        _long(b"Name,B\nPen,2\n", b"\0", 64 << 20, b"\nInk,4\n"),
        "the file is neither a table, nor an image, nor an archive of images",
    ),
    "mixed.csv": Hostile(
        _bytes("Name,B\nStühle,1\n".encode() + "Türen,2\n".encode("latin-1") + "Öfen,3\n".encode()),
        rows={2: NOTHING, 3: "line 3 is not utf-8: byte 0xfc at position 2 of its line", 4: NOTHING},
        options={"encoding": "utf-8"},
    ),
    "formulas.csv": Hostile(
        _bytes(b"Name,B\n=1+1,2\n\"=cmd|' /C calc'!A0\",3\n@SUM(1),4\n"), rows={2: NOTHING, 3: NOTHING, 4: NOTHING}
    ),
    "slip.zip": Hostile(
        _bytes(archive({"../../a.png": picture(), "b.png": picture()})),
        re.escape("the archive has an entry with a path outside of it: '../../a.png'"),
    ),
    "cut.xlsx": Hostile(_bytes(_whole[:-30]), "this is not a ZIP archive, or its end is missing"),
    "damaged.xlsx": Hostile(_bytes(_damaged), r"xl/worksheets/sheet1\.xml is damaged: "),
    "quote.csv": Hostile(
        _bytes(b'Name,B\nPen,2\nInk,3\n"Glue,4'),
        rows={2: NOTHING, 3: NOTHING, 4: "line 4 has a quote that is not closed"},
    ),
}
