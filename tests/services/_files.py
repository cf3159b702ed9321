"""Files of many kinds, made here: good ones, and bad ones that say more than they have."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image, ImageDraw


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def picture(mode: str = "RGB", size: tuple[int, int] = (120, 80)) -> Image.Image:
    """Red at the left, blue at the right; the upper left corner is black."""
    image = Image.new("RGB", size, (200, 30, 30))
    draw = ImageDraw.Draw(image)
    draw.rectangle((size[0] * 2 // 3, 0, *size), fill=(30, 30, 200))
    draw.rectangle((0, 0, size[0] // 8, size[1] // 8), fill=(0, 0, 0))
    if mode in {"RGBA", "LA"}:
        image.putalpha(128)
        return image.convert(mode)
    if mode == "I;16":
        return image.convert("I").point(lambda value: value * 256).convert("I;16")
    return image.convert(mode)


def written(*lines: str, size: tuple[int, int] = (640, 240), height: int = 36) -> bytes:
    """An image with text."""
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for n, line in enumerate(lines):
        draw.text((20, 20 + n * height * 2), line, fill="black", font_size=height)
    return saved(image, "PNG")


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))


def png(width: int, height: int, *chunks: bytes) -> bytes:
    """A PNG with that header, whatever follows."""
    head = png_chunk(b"IHDR", struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + png_chunk(b"IEND", b"")


def pdf(*pages: str, box: str = "0 0 600 800", title: str | None = None, more: str = "") -> bytes:
    """A PDF whose pages have this content, or are text when that does not look like operators."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects += [f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    objects += ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for n, text in enumerate(pages):
        stream = text if text.endswith("\n") else f"BT /F1 24 Tf 50 700 Td ({text}) Tj ET"
        place = f"/Parent 2 0 R /MediaBox [{box}] /Contents {5 + 2 * n} 0 R"
        objects += [
            f"<< /Type /Page {place} /Resources << /Font << /F1 3 0 R >> {more} >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    info = len(objects) + 1
    objects += [f"<< /Title ({title}) /Author (Ann) >>" if title else "<< >>"]
    out, offsets = b"%PDF-1.7\n", list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    tail = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} /Root 1 0 R /Info {info} 0 R >>\n"
    return out + tail.encode() + f"startxref\n{len(out)}\n%%EOF\n".encode()
