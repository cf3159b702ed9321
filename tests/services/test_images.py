"""Images of every kind, turned and animated ones, and such that are out to do harm."""

# demands: S2-74, S2-75

from __future__ import annotations

import io
import json
import pickle
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from forebay.errors import DataError
from forebay.services import images
from tests.services._files import picture, png, png_chunk, saved

_GOOD = [
    ("PNG", "RGB", "image/png", False),
    ("PNG", "RGBA", "image/png", True),
    ("PNG", "L", "image/png", False),
    ("PNG", "LA", "image/png", True),
    ("PNG", "P", "image/png", False),
    ("PNG", "1", "image/png", False),
    ("PNG", "I;16", "image/png", False),
    ("JPEG", "RGB", "image/jpeg", False),
    ("JPEG", "L", "image/jpeg", False),
    ("JPEG", "CMYK", "image/jpeg", False),
    ("GIF", "P", "image/gif", False),
    ("WEBP", "RGB", "image/webp", False),
    ("WEBP", "RGBA", "image/webp", True),
    ("AVIF", "RGB", "image/avif", False),
    ("BMP", "RGB", "image/bmp", False),
]


def _read(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize(("kind", "mode", "media_type", "alpha"), _GOOD)
def test_every_kind(kind: str, mode: str, media_type: str, alpha: bool) -> None:
    data = saved(picture(mode), kind)
    facts = images.inspect(data)
    assert (facts.format, facts.media_type) == (kind.lower(), media_type)
    assert (facts.width, facts.height, facts.animated, facts.has_alpha) == (120, 80, False, alpha)
    assert len(facts.blurhash) == 28
    assert pickle.loads(pickle.dumps(facts)) == facts
    small = _read(images.thumbnail(data, (60, 60)))
    assert (small.format, small.size, small.has_transparency_data) == ("WEBP", (60, 40), alpha)
    assert _read(images.jpeg(data, 30)).size == (30, 20)


def test_icons() -> None:
    facts = images.inspect(saved(picture("RGBA", (64, 64)), "ICO", sizes=[(16, 16), (64, 64)]))
    assert (facts.media_type, facts.width, facts.animated) == ("image/x-icon", 64, False)


def test_colours() -> None:
    assert images.inspect(saved(picture(), "PNG")).colour == "#c81e1e"
    clear = Image.new("RGBA", (50, 50), (255, 0, 0, 0))
    assert images.inspect(saved(clear, "PNG")).colour == "#ffffff"  # as it is seen, on white


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_animations(kind: str) -> None:
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "green", "blue")]
    facts = images.inspect(saved(frames[0], kind, save_all=True, append_images=frames[1:]))
    assert (facts.animated, facts.width) == (True, 20)
    assert facts.colour[:4] in {"#fe0", "#ff0"}


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_images_are_turned_as_they_are_seen(kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = saved(picture(size=(640, 480)), kind, exif=exif)
    seen = ImageOps.exif_transpose(_read(data))
    facts = images.inspect(data)
    assert (facts.width, facts.height) == seen.size
    small = _read(images.thumbnail(data, (320, 160)))
    expected = seen.copy()
    expected.thumbnail((320, 160))
    assert small.size == expected.size
    wide, tall = small.size
    for place in ((3, 3), (wide - 4, 3), (3, tall - 4), (wide - 4, tall - 4)):
        ours, theirs = small.convert("RGB").getpixel(place), expected.convert("RGB").getpixel(place)
        assert isinstance(ours, tuple)
        assert isinstance(theirs, tuple)
        assert max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 60, place


def test_nothing_but_pixels_is_passed_on() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home <script>"
    data = saved(picture(), "JPEG", exif=exif, comment=b"secret comment") + b"<script>alert(1)</script>PK\x03\x04"
    assert images.inspect(data).media_type == "image/jpeg"
    for made in (images.thumbnail(data, (60, 60)), images.jpeg(data, 60)):
        assert not any(word in made for word in (b"home", b"secret", b"script", b"Exif"))


@pytest.mark.parametrize(
    ("size", "thumbnails"),
    [
        ((1280, 800), [(160, (160, 100)), (320, (320, 200)), (640, (640, 400))]),
        ((200, 100), [(160, (160, 80)), (320, (200, 100))]),
        ((16, 16), [(160, (16, 16))]),
        ((400, 8000), [(160, (32, 640)), (320, (64, 1280)), (640, (128, 2560))]),
    ],
    ids=["screen", "small", "icon", "tall"],
)
def test_thumbnails(size: tuple[int, int], thumbnails: list[tuple[int, tuple[int, int]]]) -> None:
    made = images.picture(saved(picture(size=size), "PNG"))
    assert (made.facts.width, made.facts.height) == size
    assert [(width, _read(data).size) for width, data in made.thumbnails] == thumbnails
    assert {_read(data).format for _, data in made.thumbnails} == {"WEBP"}


# What is refused.


def _gif(width: int, height: int) -> bytes:
    return (
        b"GIF89a"
        + struct.pack("<HHBBB", width, height, 0x80, 0, 0)
        + b"\0\0\0\xff\xff\xff"
        + (b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\2\2D\1\0;")
    )


def _with_text(size: int) -> bytes:
    """A small image with a text that becomes large."""
    text = b"note\0\0" + zlib.compress(b"a" * size)
    return png(1, 1, png_chunk(b"zTXt", text), png_chunk(b"IDAT", zlib.compress(b"\0\0\0\0")))


NONE = r"^this is not an image of a supported format: PNG, JPEG, WebP, GIF, AVIF, BMP or ICO$"
SVG = r"^SVG images are not supported: save it as PNG or WebP$"
DAMAGED = r"^the image is truncated or damaged: "
TOO_MANY = r"^the image has too many pixels; 50000000 are allowed$"


# 16,000 x 16,000 black pixels, as Pillow writes them without loss.
_WEBP_BOMB = b"RIFF\x1a\x00\x00\x00WEBPVP8L\x0e\x00\x00\x00/\x7f\xfe\x9f\x0f\x07\x10\x11\xfd\x0fDD\xff\x03"

# What takes seconds to make is made by the test, not while tests are collected.
_BAD: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "empty": (b"", "the image is empty"),
    "text": (b"hello", NONE),
    "html": (b"<html><img></html>", NONE),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", SVG),
    "svg with a prolog": (
        b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a --><SVG onload='x()'/>",
        SVG,
    ),
    "svg in 16 bits": ("\ufeff<svg/>".encode("utf-16-le"), SVG),
    "tiff": (saved(picture(), "TIFF"), NONE),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", NONE),
    "gif that is a script": (b"GIF89a/*" + b"*/=1;alert(1)//", NONE),
    "png bomb": (png(50_000, 50_000, png_chunk(b"IDAT", zlib.compress(b"\0" * 100))), TOO_MANY),
    "long png": (
        png(100_000, 1, png_chunk(b"IDAT", zlib.compress(b"\0" * 100))),
        r"^the image has 100000 x 1 pixels; at most 50000000 are allowed$",
    ),
    "gif bomb": (_gif(65535, 65535), TOO_MANY),
    "webp bomb": (_WEBP_BOMB, TOO_MANY),
    "png without pixels": (png(0, 5), NONE),
    "text bomb": (partial(_with_text, 200 << 20), DAMAGED),
    "png without data": (png(100, 100), DAMAGED),
}


@pytest.mark.parametrize("name", _BAD)
def test_bad_images_are_refused_in_words(name: str) -> None:
    made, reason = _BAD[name]
    data = made() if callable(made) else made
    calls: list[Any] = [images.inspect, lambda data: images.thumbnail(data, (9, 9)), lambda data: images.jpeg(data, 9)]
    for call in calls:
        with pytest.raises(DataError, match=reason):
            call(data)


def test_an_image_of_too_many_bytes() -> None:
    with pytest.raises(DataError, match=r"^the image has 67108865 bytes; 67108864 are allowed$"):
        images.inspect(bytes((64 << 20) + 1))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP"])
def test_images_that_are_cut_off(kind: str) -> None:
    data = saved(picture("RGB", (200, 200)), kind)
    for part in range(5, 95, 10):
        with pytest.raises(DataError):
            images.thumbnail(data[: len(data) * part // 100], (50, 50))


_SEEDS = [saved(picture("RGB", (40, 30)), kind) for kind in ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "ICO")]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(_SEEDS), st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_images_are_read_or_refused(data: bytes, changes: list[tuple[int, int]]) -> None:
    broken = bytearray(data)
    for place, value in changes:
        broken[place % len(broken)] = value
    try:
        facts = images.inspect(bytes(broken))
        images.thumbnail(bytes(broken), (20, 20))
    except DataError:
        return
    assert facts.width * facts.height <= images.MAX_PIXELS


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "PNG"), ("P", "PNG"), ("RGB", "JPEG")])
def test_the_largest_images_fit_into_the_memory_of_a_child(mode: str, kind: str) -> None:
    """49 million pixels in a process that may have 700 MB."""
    made = subprocess.run([sys.executable, "-c", _MAKE, mode, kind], capture_output=True, check=False, timeout=120)
    assert made.returncode == 0, made.stderr.decode()
    command = [sys.executable, "-c", _LOOK]
    done = subprocess.run(command, input=made.stdout, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == {"width": 7000, "height": 7000}


_MAKE = """
import sys
from PIL import Image
Image.new(sys.argv[1], (7000, 7000)).save(sys.stdout.buffer, sys.argv[2])
"""
_LOOK = """
import json, resource, sys
from forebay.services import images
resource.setrlimit(resource.RLIMIT_DATA, (700 << 20, 700 << 20))
data = sys.stdin.buffer.read()
facts = images.inspect(data)
images.thumbnail(data, (512, 512))
print(json.dumps({"width": facts.width, "height": facts.height}))
"""


def test_without_the_packages_the_command_is_named() -> None:
    script = """
import sys
sys.modules["PIL"] = None
from forebay.errors import ConfigError
from pathlib import Path
from forebay.services import images, pdf
file = Path("/etc/hosts")
for call in (lambda: images.inspect(b"x"), lambda: images.thumbnail(b"x", (1, 1)), lambda: pdf.first_page(file)):
    try:
        call()
    except ConfigError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()) == {
        "images need packages that are not installed: pip install 'forebay[images]'"
    }


def test_an_image_in_a_file_is_given_by_its_path(tmp_path: Path) -> None:
    """Its size is checked before it is read."""
    data = saved(picture(), "PNG")
    path = tmp_path / "image"
    path.write_bytes(data)
    assert images.inspect(path) == images.inspect(data)
    assert images.jpeg(path, 30) == images.jpeg(data, 30)
    with path.open("wb") as file:
        file.truncate(images.MAX_BYTES + 1)
    with pytest.raises(
        DataError, match=rf"^the image has {images.MAX_BYTES + 1} bytes; {images.MAX_BYTES} are allowed$"
    ):
        images.inspect(path)
