"""Bodies that are too large, too odd or too binary to be written down."""

from __future__ import annotations

import struct
import zlib
from functools import cache

_PARAGRAPH = "<p>The mill race carries the water past the wheel, and the wheel turns the stone all day long.</p>\n"


@cache
def huge() -> bytes:
    """More than readers look at; what is worth knowing stands at the beginning."""
    head = '<!doctype html><html lang="en"><head><title>The long page</title></head><body><h1>The long page</h1>\n'
    return (head + _PARAGRAPH * 70_000 + "<p id=end>the end</p></body></html>").encode()


@cache
def deep() -> bytes:
    return (
        b"<!doctype html><title>Deep</title><p>" + b"<div>" * 100_000 + b"the bottom of the well" + b"</div>" * 100_000
    )


@cache
def many_tags() -> bytes:
    return b"<!doctype html><title>Many tags</title><p>a few words at the start of it</p>" + b"<b>x</b><i>" * 400_000


@cache
def huge_attribute() -> bytes:
    return (
        b'<!doctype html><title>A huge attribute</title><meta name="description" content="'
        + b"word " * 500_000
        + b'"><p>Some words that can be read here.'
    )


@cache
def unclosed() -> bytes:
    """Formatting that is never closed: parsers that copy it for every block take quadratic time."""
    return b"<!doctype html><title>Unclosed</title>" + b"<a><b><p>word" * 5000


@cache
def with_nul() -> bytes:
    return b"<!doctype html><title>A ti\0tle</title><p>Some\0 words \x01with control\x02 characters in them.</p>"


@cache
def broken_utf8() -> bytes:
    text = "<!doctype html><title>Größe und Maß</title><p>Die Straße führt über die Brücke, am Mühlrad vorbei. "
    return text.encode() * 3 + b"Caf\xe9 \xff\xfe" + " und schöne Grüße aus Köln".encode() * 3


@cache
def bomb() -> bytes:
    """A quarter of a gigabyte of zeros in a gzip stream of a quarter of a megabyte."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    return b"".join([packer.compress(block) for _ in range(256)] + [packer.flush()])


@cache
def png(width: int = 320, height: int = 180) -> bytes:
    """A picture of a gradient."""
    rows = b"".join(
        b"\0" + b"".join(bytes((x * 255 // width, y * 255 // height, 128)) for x in range(width)) for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@cache
def pdf() -> bytes:
    """One page that says where it comes from."""
    content = b"BT /F1 24 Tf 72 720 Td (A paper about mills) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >>>>>>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", list[int]()
    for number, each in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(made))
    return made + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end
