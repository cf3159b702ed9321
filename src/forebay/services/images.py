"""Looking into images that nobody vouches for. Plain functions, to be run in a process with limits of its own.

Only the first frame is decoded, whatever the number of frames. SVG is refused: it is a program, not pixels.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from PIL.Image import Image

MAX_BYTES = 64 << 20
MAX_PIXELS = 50_000_000
MAX_SIDE = 60_000

PACKAGES = ("PIL", "blurhash_rs")
MISSING = "images need packages that are not installed: pip install 'forebay[images]'"
_KINDS = ("AVIF", "BMP", "GIF", "ICO", "JPEG", "PNG", "WEBP")
_MOVING = frozenset(("AVIF", "GIF", "PNG", "WEBP"))
_SMALL = (64, 64)  # enough for a blurhash and a colour
_TURNED = frozenset((5, 6, 7, 8))  # EXIF orientations that swap width and height
_ORIENTATION = 0x0112


# What decoders raise when they stumble.
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
    """What an image is, as people see it: turned as its EXIF data says."""

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
    """What this image is; files are given by their path, so that their bytes need not be sent to a child process.

    Raises: DataError with the reason when it is not one that is read; ConfigError when packages are missing.
    """
    blurhash = _blurhash()
    with _opened(source) as image:
        width, height = image.size
        if _orientation(image) in _TURNED:
            width, height = height, width
        kind = "JPEG" if image.format == "MPO" else str(image.format)  # of cameras that add a second picture
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
    """The image in WebP, shrunk to fit into the box, and without anything else that was in its file.

    Raises: the same as `inspect`.
    """
    with _opened(source) as image:
        small = _shrunk(image, box)
        small = small.convert("RGBA" if small.has_transparency_data else "RGB")
    return _saved(small, "WEBP", quality=quality, method=4)


def jpeg(source: bytes | Path, max_side: int, quality: int = 85) -> bytes:
    """The image in JPEG, which every service reads, on white and no side longer than that.

    Raises: the same as `inspect`.
    """
    return _saved(rgb(source, max_side), "JPEG", quality=quality)


def rgb(source: bytes | Path, max_side: int) -> Image:
    """The image as plain colours on white, no side longer than that: for whoever reads text in it.

    Raises: the same as `inspect`.
    """
    with _opened(source) as image:
        return _flat(_shrunk(image, (max_side, max_side)))


def is_svg(data: bytes) -> bool:
    """Whether this is SVG, by its beginning."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").replace(b"\0", b"").lower()
    return head.startswith(b"<") and b"<svg" in head


# How.


def _saved(image: Image, kind: str, **options: int) -> bytes:
    """The pixels alone: no EXIF, no place where it was taken."""
    image.info.clear()
    out = io.BytesIO()
    image.save(out, kind, exif=b"", **options)
    return out.getvalue()


@contextmanager
def _opened(source: bytes | Path) -> Generator[Image]:
    """An image that is not too large to be decoded; whatever its decoder says is said in words."""
    pil = _pillow()
    data = _checked_bytes(source)
    with _translating_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd files there are many
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
        raise DataError("SVG images are not read: save it as PNG or WebP")
    return data


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        raise DataError(f"the image has {width} x {height} pixels; {MAX_PIXELS} in all are allowed")


@contextmanager
def _translating_errors() -> Generator[None]:
    pil = _pillow()
    try:
        yield
    except DataError:
        raise
    except pil.UnidentifiedImageError as error:
        kinds = "PNG, JPEG, WebP, GIF, AVIF, BMP or ICO"
        raise DataError(f"this is not an image of a kind that is read: {kinds}") from error
    except (pil.DecompressionBombError, pil.DecompressionBombWarning) as error:
        raise DataError(f"the image has too many pixels; {MAX_PIXELS} are allowed") from error
    except _DAMAGED as error:
        raise DataError(f"the image is cut off or damaged: {str(error)[:200]}") from error


def _shrunk(image: Image, box: tuple[int, int]) -> Image:
    """A smaller image, turned as it should be seen. Decoders that can leave pixels out are told to."""
    orientation = _orientation(image)
    if orientation in _TURNED:
        box = (box[1], box[0])
    image.draft("RGB", (box[0] * 2, box[1] * 2))
    image.load()
    if image.mode.startswith("I"):  # 16 bits of grey
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
    except Exception:  # whatever its parser says to rubbish: a picture whose notes are broken is shown as it lies
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
    """On white, where one could see through."""
    if not image.has_transparency_data:
        return image.convert("RGB")
    see_through = image.convert("RGBA")
    paper: Image = _pillow().new("RGB", image.size, "white")
    paper.paste(see_through, mask=see_through.getchannel("A"))
    return paper


def _dominant(image: Image) -> str:
    """The most frequent of a few colours that stand for all."""
    few = image.quantize(8)
    palette = few.getpalette() or [0, 0, 0]
    counted: list[tuple[int, int]] = few.getcolors() or [(1, 0)]  # type: ignore[assignment] # numbers of a palette
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
