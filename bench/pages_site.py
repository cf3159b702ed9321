"""A site of pages for the bookmarks' benchmark: text, a picture and an icon each, from memory."""

import asyncio
import struct
import sys
import zlib

_TEXT = "The miller opens the gate, and the water of the forebay falls onto the wheel, which turns the stone. " * 40


def _png(side: int = 400) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(side * 3)) for y in range(side))
    head = struct.pack("!IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


_PICTURE = _png()


def _page(path: str) -> bytes:
    head = f'<title>Page {path}</title><meta property="og:image" content="/picture.png?{path}">'
    body = f'<link rel="icon" href="/icon.png?{path}"><h1>{path}</h1><img src="/picture.png"><p>{_TEXT}</p>'
    return f'<!doctype html><html lang="en">{head}<body>{body}</body></html>'.encode()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            path = line.split()[1].decode()
            while await reader.readline() not in (b"\r\n", b""):
                pass
            is_picture = ".png" in path
            body = _PICTURE if is_picture else _page(path)
            kind = "image/png" if is_picture else "text/html; charset=utf-8"
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
    except (OSError, IndexError):
        pass
    finally:
        writer.close()


async def _serve(port: int) -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
