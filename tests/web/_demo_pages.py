"""A small web of drawn pictures and invented articles, for the pictures of the documentation."""

from __future__ import annotations

import io
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image, ImageDraw, ImageFilter

_ARTICLE = """<!doctype html><html lang="en"><head><title>{title}</title>
<meta property="og:site_name" content="{site}"><meta property="og:image" content="/{name}.png">
<meta name="description" content="{text}"><link rel="icon" href="/{name}-icon.png"></head>
<body style="font: 20px/1.6 Georgia, serif; margin: 40px auto; max-width: 720px"><h1>{title}</h1>
<img src="/{name}.png" width="720" alt=""><article><p>{text}</p>{more}</article></body></html>"""
_MORE = (
    "The gate is opened before sunrise, when the level in the basin is highest.",
    "Nobody remembers who laid the first stone, but the ledger names the one who paid for it.",
    "In a dry summer the wheel stands still for weeks, and the children swim where the water should fall.",
    "What is stored above is what can be spent below: this is all there is to it.",
)


@dataclass(frozen=True)
class Article:
    name: str
    site: str
    title: str
    text: str
    tags: tuple[str, ...]
    hue: int

    @property
    def page(self) -> bytes:
        more = "".join(f"<p>{line}</p>" for line in _MORE)
        return _ARTICLE.format(name=self.name, site=self.site, title=self.title, text=self.text, more=more).encode()


ARTICLES = (
    Article(
        "forebay", "Water & Stone", "What a forebay is for", "A pool of calm water above the wheel.", ("water",), 200
    ),
    Article(
        "lock", "Canal Almanac", "How a lock lifts a barge", "Two gates, two sluices, and patience.", ("canals",), 35
    ),
    Article(
        "heron", "Field Notes", "A year of herons at the weir", "They stand where the current is slow.", ("birds",), 140
    ),
    Article(
        "mill", "Water & Stone", "The mill that ground until 1961", "The last sack left by bicycle.", ("mills",), 20
    ),
    Article(
        "ice",
        "Canal Almanac",
        "When the canal froze over",
        "Skaters, sledges and one unlucky postman.",
        ("winter",),
        215,
    ),
    Article(
        "turbine", "Slow Engineering", "Why turbines hum", "A note between two B flats.", ("turbines", "water"), 260
    ),
    Article("bread", "Kitchen Ledger", "Bread from the stone", "Coarse flour wants more time.", ("bread", "mills"), 45),
    Article(
        "bridge", "Slow Engineering", "A bridge of three arches", "The middle one carries the date.", ("bridges",), 5
    ),
)


def picture(hue: int, size: tuple[int, int] = (960, 600)) -> bytes:
    """Hills behind each other, and water before them."""
    width, height = size
    dice = random.Random(hue)
    image = Image.new("RGB", size)
    draw = ImageDraw.Draw(image)
    for y in range(height):
        draw.line((0, y, width, y), _colour(hue, 28, 92 - 22 * y / height))
    draw.ellipse((width * 0.68, height * 0.12, width * 0.68 + 90, height * 0.12 + 90), _colour(hue + 30, 60, 94))
    for layer in range(4):
        base = height * (0.42 + 0.12 * layer)
        steep = 34 * (1.3 - 0.25 * layer)
        edge = [(float(x), base + dice.uniform(-steep, steep)) for x in range(0, width + 41, 40)]
        draw.polygon(
            [(0.0, float(height)), *edge, (float(width), float(height))], _colour(hue, 34 + 5 * layer, 68 - 14 * layer)
        )
    draw.rectangle((0, height * 0.86, width, height), _colour(205, 38, 52))
    for _ in range(60):
        left, top = dice.uniform(0, width), dice.uniform(height * 0.87, height)
        draw.line((left, top, left + dice.uniform(20, 90), top), _colour(205, 45, 66), 2)
    return _saved(image.filter(ImageFilter.SMOOTH_MORE))


def _icon(hue: int) -> bytes:
    image = Image.new("RGB", (32, 32), _colour(hue, 55, 45))
    ImageDraw.Draw(image).ellipse((8, 8, 24, 24), _colour(hue, 60, 85))
    return _saved(image)


def _colour(hue: float, saturation: float, lightness: float) -> str:
    return f"hsl({hue % 360:.0f}, {saturation:.0f}%, {lightness:.0f}%)"


def _saved(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


@contextmanager
def served_articles() -> Iterator[int]:
    """A server of all articles; its port."""
    files = {f"/{each.name}": ("text/html; charset=utf-8", each.page) for each in ARTICLES}
    files |= {f"/{each.name}.png": ("image/png", picture(each.hue)) for each in ARTICLES}
    files |= {f"/{each.name}-icon.png": ("image/png", _icon(each.hue)) for each in ARTICLES}

    class Visit(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            media_type, body = files.get(self.path, ("text/plain", b""))
            self.send_response(200 if self.path in files else 404)
            self.send_header("content-type", media_type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named so in the library
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Visit)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
