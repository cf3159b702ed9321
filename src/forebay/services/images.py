"""Reads untrusted images. Plain functions, to be run in a limited process.

Only the first frame is decoded. SVG is refused: it can contain scripts.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from PIL.Image import Image

MAX_BYTES = 64 << 20
MAX_PIXELS = 50_000_000
MAX_SIDE = 60_000
WIDTHS = (160, 320, 640)  # of thumbnails

PACKAGES = ("PIL", "blurhash_rs")
MISSING = "images need packages that are not installed: pip install 'forebay[images]'"
_KINDS = ("AVIF", "BMP", "GIF", "ICO", "JPEG", "PNG", "WEBP")
_MOVING = frozenset(("AVIF", "GIF", "PNG", "WEBP"))
_SMALL = (64, 64)  # pixels for the blurhash and the colour
_TURNED = frozenset((5, 6, 7, 8))  # EXIF orientations that swap width and height
_ORIENTATION = 0x0112


# Errors of decoders.
_DAMAGED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
)


class ImageFacts(BaseModel):
    """Facts about an image, after applying its EXIF orientation."""

    model_config = ConfigDict(frozen=True)

    format: str
    media_type: str
    width: int
    height: int
    blurhash: str
    colour: str  # the dominant one, as #rrggbb
    animated: bool
    has_alpha: bool


def inspect(source: bytes | Path) -> ImageFacts:
    """Inspect an image; a file is given by its path, so that its bytes need not be sent to a child process.

    Raises: DataError when it cannot be read; ConfigError when packages are missing.
    """
    blurhash = _blurhash()
    with _opened(source) as image:
        width, height = image.size
        if _orientation(image) in _TURNED:
            width, height = height, width
        kind = "JPEG" if image.format == "MPO" else str(image.format)  # JPEG with a second image
        animated = kind in _MOVING and bool(getattr(image, "is_animated", False))
        has_alpha = image.has_transparency_data
        small = _flat(_shrunk(image, _SMALL))
    return ImageFacts(
        format=kind.lower(),
        media_type="image/x-icon" if kind == "ICO" else f"image/{kind.lower()}",
        width=width,
        height=height,
        blurhash=blurhash(small),
        colour=_dominant(small),
        animated=animated,
        has_alpha=has_alpha,
    )


def thumbnail(source: bytes | Path, box: tuple[int, int], quality: int = 80) -> bytes:
    """The image in WebP, shrunk to fit into the box, without metadata.

    Raises: the same as `inspect`.
    """
    with _opened(source) as image:
        small = _shrunk(image, box)
        small = small.convert("RGBA" if small.has_transparency_data else "RGB")
    return _saved(small, "WEBP", quality=quality, method=4)


class Picture(NamedTuple):
    """Facts about an image, and thumbnails in WebP with their widths, the smallest first."""

    facts: ImageFacts
    thumbnails: list[tuple[int, bytes]]


def picture(source: bytes | Path) -> Picture:
    """Inspect an image and make its thumbnails; none is larger than needed for an image that is small itself.

    Raises: the same as `inspect`.
    """
    facts = inspect(source)
    widths = [width for place, width in enumerate(WIDTHS) if place == 0 or WIDTHS[place - 1] < facts.width]
    large = thumbnail(source, _tall(widths[-1]))
    # The smaller ones are made of the largest: the image is decoded once more only.
    return Picture(facts, [*((width, thumbnail(large, _tall(width))) for width in widths[:-1]), (widths[-1], large)])


def _tall(width: int) -> tuple[int, int]:
    """A box for pages and posters, which are higher than wide."""
    return width, 4 * width


def jpeg(source: bytes | Path, max_side: int, quality: int = 85) -> bytes:
    """The image in JPEG on white, with a maximum length of its sides.

    Raises: the same as `inspect`.
    """
    return _saved(rgb(source, max_side), "JPEG", quality=quality)


def rgb(source: bytes | Path, max_side: int) -> Image:
    """The image as RGB on white, with a maximum length of its sides, for OCR.

    Raises: the same as `inspect`.
    """
    with _opened(source) as image:
        return _flat(_shrunk(image, (max_side, max_side)))


def is_svg(data: bytes) -> bool:
    """Whether this is SVG, judged by its first bytes."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").replace(b"\0", b"").lower()
    return head.startswith(b"<") and b"<svg" in head


# Decoding.


def _saved(image: Image, kind: str, **options: int) -> bytes:
    """Only the pixels, without EXIF, which may contain a location."""
    image.info.clear()
    out = io.BytesIO()
    image.save(out, kind, exif=b"", **options)
    return out.getvalue()


@contextmanager
def _opened(source: bytes | Path) -> Generator[Image]:
    """Open an image that is not too large to decode; errors of decoders are translated."""
    pil = _pillow()
    data = _checked_bytes(source)
    with _translating_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there are many unusual files
        warnings.simplefilter("error", pil.DecompressionBombWarning)
        with pil.open(io.BytesIO(data), formats=_KINDS) as image:
            _check_size(*image.size)
            yield image


def _checked_bytes(source: bytes | Path) -> bytes:
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if not size:
        raise DataError("the image is empty")
    if size > MAX_BYTES:
        raise DataError(f"the image has {size} bytes; {MAX_BYTES} are allowed")
    data = source if isinstance(source, bytes) else source.read_bytes()
    if is_svg(data):
        raise DataError("SVG images are not supported: save it as PNG or WebP")
    return data


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        raise DataError(f"the image has {width} x {height} pixels; at most {MAX_PIXELS} are allowed")


@contextmanager
def _translating_errors() -> Generator[None]:
    pil = _pillow()
    try:
        yield
    except DataError:
        raise
    except pil.UnidentifiedImageError as error:
        kinds = "PNG, JPEG, WebP, GIF, AVIF, BMP or ICO"
        raise DataError(f"this is not an image of a supported format: {kinds}") from error
    except (pil.DecompressionBombError, pil.DecompressionBombWarning) as error:
        raise DataError(f"the image has too many pixels; {MAX_PIXELS} are allowed") from error
    except _DAMAGED as error:
        raise DataError(f"the image is truncated or damaged: {str(error)[:200]}") from error


def _shrunk(image: Image, box: tuple[int, int]) -> Image:
    """A smaller image in its EXIF orientation. Decoders that can decode at a smaller size do so."""
    orientation = _orientation(image)
    if orientation in _TURNED:
        box = (box[1], box[0])
    image.draft("RGB", (box[0] * 2, box[1] * 2))
    image.load()
    if image.mode.startswith("I"):  # 16-bit greyscale
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    elif image.mode in {"1", "P", "PA"}:
        image = image.convert("RGBA" if image.has_transparency_data else "RGB")
    elif image.mode not in {"L", "LA", "RGB", "RGBA"}:
        image = image.convert("RGB")
    image.thumbnail(box, reducing_gap=2.0)
    return _turned(image, orientation)


def _orientation(image: Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # any error of the EXIF parser: an image with invalid EXIF is shown without rotation
        return 1


def _turned(image: Image, orientation: int) -> Image:
    from PIL.Image import Transpose  # noqa: PLC0415 - an extra

    turns = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(turns[orientation]) if orientation in turns else image


def _flat(image: Image) -> Image:
    """Replace transparency by white."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    see_through = image.convert("RGBA")
    paper: Image = _pillow().new("RGB", image.size, "white")
    paper.paste(see_through, mask=see_through.getchannel("A"))
    return paper


def _dominant(image: Image) -> str:
    """The most frequent colour of a small palette."""
    few = image.quantize(8)
    palette = few.getpalette() or [0, 0, 0]
    counted: list[tuple[int, int]] = few.getcolors() or [(1, 0)]  # type: ignore[assignment] # palette indexes
    _, most = max(counted)
    red, green, blue = palette[most * 3 : most * 3 + 3]
    return f"#{red:02x}{green:02x}{blue:02x}"


def _pillow() -> ModuleType:
    """Raises: ConfigError with the command that installs it."""
    try:
        from PIL import Image as pil  # noqa: N813, PLC0415 - an extra; a module, which is named like its class
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return pil


def _blurhash() -> Callable[[Image], str]:
    """Raises: ConfigError with the command that installs it."""
    try:
        from blurhash_rs import blurhash_encode  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return blurhash_encode
