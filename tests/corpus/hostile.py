"""Files that want to do harm, of every kind that is read: each is small, always the same, and made when asked for.

`FILES` are handed in as sheets; those in `PAGES` are served as pages of a site, too.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial

from PIL import Image

from tests.services.spreadsheets._tables import archive, workbook

Make = Callable[[], bytes]

_SHEET = "xl/worksheets/sheet1.xml"
_HEADER = '<row r="1"><c r="A1" t="inlineStr"><is><t>Name</t></is></c></row>'
_ROW = '<row r="2"><c r="A2" t="inlineStr"><is><t>Pen</t></is></c></row>'


# Workbooks.


def _repacked(data: bytes, changes: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        entries = {entry.filename: made.read(entry) for entry in made.infolist()}
    return archive(entries | changes)


def _with_part(part: str, head: bytes, filling: bytes, count: int, tail: bytes) -> bytes:
    """A workbook one part of which is long; it is packed piece by piece."""
    out = io.BytesIO()
    block, size = filling * max(1, (1 << 20) // len(filling)), count * len(filling)
    usual = io.BytesIO(workbook(_HEADER + _ROW, strings="<si><t>x</t></si>"))
    with zipfile.ZipFile(usual) as plain, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in plain.infolist():
            if entry.filename != part:
                made.writestr(entry.filename, plain.read(entry))
        with made.open(part, "w", force_zip64=True) as long:
            long.write(head)
            for _ in range(size // len(block)):
                long.write(block)
            long.write(block[: size % len(block)] + tail)
    return out.getvalue()


def _sheet_of(filling: str, count: int, *, after: str = "") -> bytes:
    head = f"<worksheet><sheetData>{_HEADER}{_ROW}".encode()
    return _with_part(_SHEET, head, filling.encode(), count, f"</sheetData>{after}</worksheet>".encode())


def _after_rows(filling: str, count: int, name: str) -> bytes:
    head = f"<worksheet><sheetData>{_HEADER}{_ROW}</sheetData><{name}>".encode()
    return _with_part(_SHEET, head, filling.encode(), count, f"</{name}></worksheet>".encode())


def _shared(length: int, uses: int) -> bytes:
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(2, uses + 2))
    return workbook(_HEADER + rows, strings=f"<si><t>{'x' * length}</t></si>")


def _nested(part: str, depth: int) -> bytes:
    return _repacked(workbook(_HEADER + _ROW), {part: b"<a>" * depth + b"</a>" * depth})


_DOCUMENT_TYPES = {
    "file": b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
    "network": b'<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:9/e">]>',
    "public": b'<!DOCTYPE x PUBLIC "-//x//y" "http://127.0.0.1:9/dtd">',
    "parameter": b'<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p"> %p;]>',
    "laughs": b'<!DOCTYPE x [<!ENTITY a "haha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]>",
    "quadratic": b'<!DOCTYPE x [<!ENTITY a "' + b"x" * 50_000 + b'">]>',
}


def _declared(part: str, declaration: bytes) -> bytes:
    plain = workbook(_HEADER + _ROW, strings="<si><t>x</t></si>")
    with zipfile.ZipFile(io.BytesIO(plain)) as made:
        return _repacked(plain, {part: declaration + made.read(part)})


def _styled(code: str, value: str = "1") -> bytes:
    styles = f'<numFmts><numFmt numFmtId="164" formatCode="{code}"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs>'
    return workbook(f'{_HEADER}<row r="2"><c r="A2" s="0"><v>{value}</v></c></row>', styles=styles)


def _cells(cells: str) -> bytes:
    return workbook(f"{_HEADER}<row>{cells}</row>")


def _cut(data: bytes, tenths: int) -> bytes:
    return data[: len(data) * tenths // 10]


def _flipped(data: bytes, seed: int) -> bytes:
    chosen, changed = random.Random(seed), bytearray(data)
    for _ in range(20):
        changed[chosen.randrange(len(changed))] = chosen.randrange(256)
    return bytes(changed)


def _usual_workbook() -> bytes:
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="str"><v>Thing {n}</v></c></row>' for n in range(2, 200))
    return workbook(_HEADER + rows, strings="<si><t>x</t></si>")


def _workbooks() -> Iterable[tuple[str, Make]]:
    for place, row in enumerate(("<row></row>", "<row/>", '<row r="9"/>', '<row r="9"></row>', "<row> </row>")):
        yield f"empty-rows-{place}.xlsx", partial(_sheet_of, row, 2_000_000)
    for length, uses in ((1000, 500), (100_000, 5000), (1 << 20, 1000), (4 << 20, 300), (32_767, 20_000)):
        yield f"shared-{length}x{uses}.xlsx", partial(_shared, length, uses)
    for name, filling in {"spaces": " ", "cells": "<c/>", "values": "<c><v>1</v></c>", "zeros": "0"}.items():
        for megabytes in (24, 96):
            yield f"ratio-{name}-{megabytes}.xlsx", partial(_sheet_of, filling, (megabytes << 20) // len(filling))
    for part in (_SHEET, "xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml"):
        for depth in (10_000, 1_000_000):
            yield f"deep-{part.rpartition('/')[2]}-{depth}.xlsx", partial(_nested, part, depth)
        for kind, declaration in _DOCUMENT_TYPES.items():
            yield f"doctype-{kind}-{part.rpartition('/')[2]}.xlsx", partial(_declared, part, declaration)
    merged, link = '<mergeCell ref="A1:XFD1048576"/>', '<hyperlink ref="A1" location="x"/>'
    yield "merged.xlsx", partial(_after_rows, merged, 500_000, "mergeCells")
    yield "hyperlinks.xlsx", partial(_after_rows, link, 500_000, "hyperlinks")
    yield "validations.xlsx", partial(_after_rows, "<dataValidation/>", 500_000, "dataValidations")
    yield "strings.xlsx", partial(_with_part, "xl/sharedStrings.xml", b"<sst>", b"<si/>", 5_000_000, b"</sst>")
    yield "formats.xlsx", partial(
        _with_part, "xl/styles.xml", b"<styleSheet><numFmts>", b'<numFmt numFmtId="9" formatCode="0"/>', 500_000,
        b"</numFmts></styleSheet>",
    )  # fmt: skip
    yield "sheets.xlsx", partial(
        _with_part, "xl/workbook.xml", b"<workbook><sheets>", b'<sheet name="x" r:id="rId1"/>', 200_000,
        b"</sheets></workbook>",
    )  # fmt: skip
    yield "attributes.xlsx", lambda: _cells("<c " + " ".join(f'a{n}="1"' for n in range(100_000)) + "/>")
    yield "same-attribute.xlsx", lambda: _cells("<c " + 'a="1" ' * 100_000 + "/>")
    yield "long-attribute.xlsx", lambda: _cells(f'<c r="{"A" * (5 << 20)}"><v>1</v></c>')
    yield "long-tag.xlsx", lambda: _cells(f"<{'x' * (5 << 20)}/>")
    yield "names.xlsx", lambda: _cells("".join(f"<n{n}/>" for n in range(200_000)))
    yield "far-away.xlsx", lambda: _cells('<c r="XFE1"><v>1</v></c><c r="ZZZZZZZ1"><v>1</v></c>')
    yield "backwards.xlsx", lambda: _cells('<c r="B2"><v>1</v></c><c r="A2"><v>1</v></c>')
    yield "last-cell.xlsx", lambda: _cells('<c r="XFD1048576"><v>1</v></c>')
    yield "row-number.xlsx", lambda: workbook(_HEADER + f'<row r="{9**40}"><c><v>1</v></c></row><row r="-1"/>')
    yield "digits.xlsx", lambda: _cells(f"<c><v>{'9' * 1_000_000}</v></c>")
    yield "exponent.xlsx", lambda: _cells("<c><v>1e999999999</v></c><c><v>-1e-999999999</v></c>")
    yield "not-a-number.xlsx", lambda: _cells("<c><v>nan</v></c><c><v>inf</v></c>")
    yield "no-string.xlsx", lambda: _cells('<c t="s"><v>99999999999999999999</v></c><c t="s"><v>-1</v></c>')
    yield "far-date.xlsx", partial(_styled, "yyyy-mm-dd", "1e300")
    yield "long-time.xlsx", partial(_styled, "[h]:mm:ss", "2958465")
    yield "brackets.xlsx", partial(_styled, "[" * 50_000)
    yield "quotes.xlsx", partial(_styled, "&quot;" * 50_001)
    yield "zeros-format.xlsx", partial(_styled, "0" * 50_000)
    yield "decimals-format.xlsx", partial(_styled, f"0.{'0' * 50_000}")
    yield (
        "formulas.xlsx",
        lambda: workbook(
            _HEADER + "".join(f'<row r="{n}"><c r="A{n}"><f>A{n - 1}</f></c></row>' for n in range(2, 2000))
        ),
    )
    yield "outside.xlsx", lambda: _repacked(_usual_workbook(), {"xl/../../etc/passwd": b"x"})
    yield "parts.xlsx", lambda: _repacked(_usual_workbook(), {f"xl/media/{n}.bin": b"x" for n in range(6000)})
    for tenths in range(1, 10):
        yield f"cut-{tenths}.xlsx", partial(_cut, _usual_workbook(), tenths)
    for seed in range(12):
        yield f"flipped-{seed}.xlsx", partial(_flipped, _usual_workbook(), seed)


# Archives.


def picture(side: int = 16, kind: str = "PNG") -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (side, side), "red").save(data, kind)
    return data.getvalue()


def _end(count: int, directory: int) -> bytes:
    return b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0, count, count, directory, 0, 0)


def _named(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name in names:
            made.writestr(name, picture())
    return out.getvalue()


def _packed(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.writestr("a.png", picture())
    return out.getvalue()


def _overlapping() -> bytes:
    """All entries of the directory are the same bytes of the file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("0.png", picture() + bytes(1 << 20))
        first = made.infolist()[0]
        for number in range(1, 1000):
            copy = zipfile.ZipInfo(f"{number}.png")
            copy.compress_type, copy.CRC = first.compress_type, first.CRC
            copy.compress_size, copy.file_size, copy.header_offset = first.compress_size, first.file_size, 0
            made.filelist.append(copy)
    return out.getvalue()


def _growing(size: int) -> bytes:
    return archive({"a.png": picture() + bytes(size)})


def _link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        link = zipfile.ZipInfo("a.png")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "/etc/passwd")
    return out.getvalue()


def _nested_archive(depth: int) -> bytes:
    data = picture()
    for _ in range(depth):
        data = archive({"a.zip": data})
    return data


def _encrypted() -> bytes:
    plain = archive({"a.png": picture()})
    place = plain.rindex(b"PK\x01\x02")
    return plain[: place + 8] + b"\1" + plain[place + 9 :]


_OUT = ("../a.png", "/etc/a.png", "..\\a.png", "C:\\a.png", "a/../../b.png", "//host/a.png", "a\0b.png", "./../a.png")


def _archives() -> Iterable[tuple[str, Make]]:
    for place, name in enumerate(_OUT):
        yield f"out-{place}.zip", partial(_named, name, "b.png")
    yield "many.zip", lambda: _named(*(f"{n}.png" for n in range(3000)))
    yield "too-many.zip", partial(_end, 60_000, 60_000 * 50)
    yield "liar.zip", lambda: b"PK\x03\x04" + bytes(1 << 20) + _end(3, 1 << 20)
    yield "overlapping.zip", _overlapping
    yield "link.zip", _link
    yield "encrypted.zip", _encrypted
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        yield f"method-{method}.zip", partial(_packed, method)
    for depth in (1, 2, 20):
        yield f"nested-{depth}.zip", partial(_nested_archive, depth)
    for megabytes in (8, 40, 65):
        yield f"grows-{megabytes}.zip", partial(_growing, megabytes << 20)
    yield "pixels.zip", lambda: archive(dict.fromkeys((f"{n}.png" for n in range(50)), _png(20_000, 20_000)))
    yield "nothing.zip", lambda: archive({})
    yield "folders.zip", lambda: archive({f"{n}/": b"" for n in range(1000)})
    yield "long-name.zip", lambda: _named("x" * 60_000 + ".png", "b.png")
    yield "comment.zip", lambda: archive({"a.png": picture()})[:-2] + struct.pack("<H", 65_535) + b"PK\x05\x06" * 16_383
    yield "documents.zip", lambda: archive({"a.txt": b"x", "b.exe": b"MZ"})
    for tenths in (3, 6, 9):
        yield f"cut-{tenths}.zip", partial(_cut, _named("a.png", "b.png", "c.png"), tenths)


# Tables.


def _wide(count: int) -> bytes:
    return b",".join(b"%d" % n for n in range(count)) + b"\n1\n"


def _tables() -> Iterable[tuple[str, Make]]:
    good = b"Name,SKU\nPen,1\n"
    yield "long-line.csv", lambda: good + b"x" * (20 << 20) + b"\nInk,2\n"
    yield "one-long-line.csv", lambda: b"a;b,c " * 5000
    yield "quote.csv", lambda: good + b'"' + b"x\n" * (2 << 20)
    yield "quotes.csv", lambda: good + b'"' * (3 << 20)
    yield "alternating.csv", lambda: good + b'",' * (1 << 20) + b"\n"
    yield "nul.csv", lambda: good + b"In\0k,2\n" * 500
    yield "all-nul.csv", lambda: b"Name,B\n" + bytes(4 << 20)
    for count in (1001, 20_000, 500_000):
        yield f"columns-{count}.csv", partial(_wide, count)
    yield "names.csv", lambda: b"x" * (1 << 20) + b",b\n" + b"1,2\n" * 2000
    yield "delimiters.csv", lambda: b"," * (2 << 20)
    yield "all-delimiters.csv", lambda: b",;\t|:" * 100_000
    yield "newlines.csv", lambda: b"\n" * (4 << 20)
    yield "returns.csv", lambda: b"\r" * (2 << 20) + b"a,b\r1,2\r"
    yield "mixed-ends.csv", lambda: good + b"a,1\r\nb,2\rc,3\n\r" * 200
    yield "spaces.csv", lambda: b" " * (4 << 20)
    yield "formulas.csv", lambda: b"Name,B\n" + b"=cmd|' /C calc'!A0,x;=1\n" * 200
    yield "backslashes.csv", lambda: good + b"\\" * (3 << 20)
    yield "digits.csv", lambda: b"Name,Price\nPen," + b"9" * (1 << 20) + b"\n"
    yield "marks.csv", lambda: b"Name,Price\nPen," + b"1.,'" * 100_000 + b"\n"
    yield "urls.csv", lambda: b"Name,URL\nPen,http://" + b"a." * 100_000 + b"\n"
    for encoding in ("utf-16", "utf-32", "utf-7", "cp037", "shift_jis", "gb18030", "iso2022_jp", "cp1250"):
        yield f"{encoding}.csv", partial("Name,SKU\nStühle,1\n".encode, encoding, "replace")
    yield "half-utf-16.csv", lambda: "Name,SKU\nPen,1\n".encode("utf-16")[:-1]
    yield "surrogates.csv", lambda: "Name,SKU\nP\ud800n,1\n".encode("utf-16-le", "surrogatepass")
    yield "marks-twice.csv", lambda: b"\xef\xbb\xbf\xef\xbb\xbf\xff\xfe" + good
    for seed in range(4):
        yield f"noise-{seed}.csv", partial(random.Random(seed).randbytes, 200_000)
    yield "deep.jsonl", lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    yield "arrays.jsonl", lambda: b"[" * 1_000_000
    yield "keys.jsonl", lambda: json.dumps({str(n): n for n in range(100_000)}).encode()


# Pictures.


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))


def _png(width: int, height: int, *more: tuple[bytes, bytes], depth: int = 1) -> bytes:
    head = struct.pack("!IIBBBBB", width, height, depth, 0, 0, 0, 0)
    line = bytes(1 + width // 8)
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(line) for _ in range(min(height, 20_000))) + packer.flush()
    chunks = b"".join(_chunk(kind, content) for kind, content in more)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + chunks + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _jpeg(width: int, height: int) -> bytes:
    data = bytearray(picture(16, "JPEG"))
    place = data.index(b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack("!HH", height, width)
    return bytes(data)


def _gif(frames: int, side: int = 1) -> bytes:
    frame = b"," + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02\x02\x44\x01\x00"
    head = b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return head + frame * frames + b";"


def _webp(width: int, height: int) -> bytes:
    """Says that it is as large as that."""
    canvas = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = b"WEBP" + b"VP8X" + struct.pack("<L", 10) + b"\0\0\0\0" + canvas
    body += picture(16, "WEBP")[12:]
    return b"RIFF" + struct.pack("<L", len(body)) + body


def _pictures() -> Iterable[tuple[str, Make]]:
    bomb = zlib.compress(bytes(32 << 20), 9)
    for side in (5_000, 20_000, 2_000_000_000):
        yield f"pixels-{side}.png", partial(_png, side if side < 10**6 else 16, side)
    yield "text-bomb.png", partial(_png, 16, 16, *[(b"zTXt", b"x\0\0" + bomb)] * 20)
    yield "profile-bomb.png", partial(_png, 16, 16, (b"iCCP", b"x\0\0" + bomb))
    yield "international-bomb.png", partial(_png, 16, 16, (b"iTXt", b"x\0\1\0\0\0" + bomb))
    yield "chunks.png", partial(_png, 16, 16, *[(b"tEXt", b"x\0y")] * 100_000)
    yield "chunk-length.png", lambda: picture()[:8] + struct.pack("!I", 0x7FFFFFFF) + picture()[12:]
    yield "no-pixels.png", lambda: picture()[:60]
    for width, height in ((65_500, 65_500), (0, 0), (1, 65_500)):
        yield f"size-{width}x{height}.jpg", partial(_jpeg, width, height)
    yield "cut.jpg", lambda: _cut(picture(500, "JPEG"), 5)
    yield "markers.jpg", lambda: b"\xff\xd8" + b"\xff\xe1\x00\x02" * 500_000 + picture(16, "JPEG")[2:]
    yield "frames.gif", partial(_gif, 50_000)
    yield "size.gif", partial(_gif, 1, 65_535)
    yield "nothing.gif", partial(_gif, 0, 0)
    yield "size.webp", partial(_webp, 16_383, 16_383)
    yield "larger.webp", partial(_webp, 1 << 24, 1 << 24)
    yield "cut.webp", lambda: _cut(picture(500, "WEBP"), 5)
    yield (
        "size.bmp",
        lambda: b"BM" + struct.pack("<LLLLllHHLLllLL", 54, 0, 54, 40, 40_000, 40_000, 1, 24, 0, 0, 0, 0, 0, 0),
    )
    yield (
        "icons.ico",
        lambda: (
            b"\0\0\1\0"
            + struct.pack("<H", 1)
            + struct.pack("<BBBBHHLL", 0, 0, 0, 0, 1, 32, 9, 22)
            + _png(20_000, 20_000)
        ),
    )
    yield "frames.avif", lambda: struct.pack("!L", 32) + b"ftypavif" + bytes(2000)


# Documents.


def _pdf(*objects: bytes) -> bytes:
    body = b"%PDF-1.7\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, each) for n, each in enumerate(objects, 1))
    return body + b"trailer\n<</Root 1 0 R /Size %d>>\n%%%%EOF\n" % (len(objects) + 1)


_CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"


def _pdf_stream() -> bytes:
    data = zlib.compress(b"0 0 m " * (16 << 20), 9)
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>"
    stream = b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(data), data)
    return _pdf(_CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, stream)


def _documents() -> Iterable[tuple[str, Make]]:
    yield "loop.pdf", lambda: _pdf(_CATALOG, b"<</Type/Pages/Kids[2 0 R]/Count 1>>")
    yield "count.pdf", lambda: _pdf(_CATALOG, b"<</Type/Pages/Kids[]/Count 2147483647>>")
    yield "deep.pdf", lambda: _pdf(b"[" * 200_000)
    yield "stream.pdf", _pdf_stream
    yield (
        "side.pdf",
        lambda: _pdf(
            _CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 1>>", b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9e9 9e9]>>"
        ),
    )
    yield "deep.html", lambda: b"<div>" * 200_000
    yield "tables.html", lambda: b"<table><tr><td>" * 50_000
    yield "fonts.html", lambda: b"<a><b>" * 50_000 + b"</a>" * 50_000
    yield "attributes.html", lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(200_000)) + b">x</p>"
    yield "comment.html", lambda: b"<html><!--" + b"-" * (4 << 20)
    yield "entities.html", lambda: b"<html><p>" + b"&amp;" * 800_000
    yield "script.html", lambda: b'<html><script type="application/ld+json">' + b"[" * (1 << 20)
    yield (
        "links.html",
        lambda: b"<html>" + b'<link rel="icon" href="/x"><meta property="og:image" content="x">' * 40_000,
    )
    yield "bookmarks-deep.html", lambda: b"<!DOCTYPE NETSCAPE-Bookmark-file-1>" + b"<DL><p><DT><H3>x</H3>" * 50_000
    yield (
        "bookmarks-many.html",
        lambda: b"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>" + b'<DT><A HREF="http://a.test">x</A>' * 80_000,
    )
    yield (
        "laughs.svg",
        lambda: _DOCUMENT_TYPES["laughs"] + b'<svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text></svg>',
    )
    yield "zeros.gz", lambda: gzip.compress(bytes(16 << 20), mtime=0)
    yield "old.xls", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1 << 20)


def _all() -> dict[str, Make]:
    families = (_workbooks(), _archives(), _tables(), _pictures(), _documents())
    return {name: make for family in families for name, make in family}


FILES = _all()
TYPES = {".html": "text/html", ".pdf": "application/pdf", ".png": "image/png", ".jpg": "image/jpeg",
         ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml"}  # fmt: skip
PAGES = [name for name in FILES if name.endswith(tuple(TYPES))]
