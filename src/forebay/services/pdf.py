"""Reads untrusted PDF files. To be run in a limited process."""

from __future__ import annotations

import io
import math
from collections.abc import Generator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from forebay.errors import ConfigError, DataError
from forebay.services.images import MISSING

MAX_BYTES = 200 << 20
MAX_PAGES_READ = 20
MAX_TEXT = 200_000
_TALLEST = 4  # maximum ratio of height to width
_SMALLEST, _LARGEST = 1.0, 200_000.0  # sides of a page, in points


class PdfFacts(BaseModel):
    """Facts about a PDF, with its first page as WebP and the text of its first pages."""

    model_config = ConfigDict(frozen=True)

    pages: int
    title: str | None
    author: str | None
    text: str
    image: bytes
    width: int
    height: int


def first_page(path: Path, width: int = 1280) -> PdfFacts:
    """Render the first page of a PDF, `width` pixels wide, and read its facts.

    Raises: DataError when it cannot be read; ConfigError when packages are missing.
    """
    size = path.stat().st_size
    if not size:
        raise DataError("the PDF is empty")
    if size > MAX_BYTES:
        raise DataError(f"the PDF has {size} bytes; {MAX_BYTES} are allowed")
    with _opened(path) as document:
        pages = len(document)
        image = _render(document, width)
        about = document.get_metadata_dict()
        return PdfFacts(
            pages=pages,
            title=_line(about.get("Title")),
            author=_line(about.get("Author")),
            text=_text(document, min(pages, MAX_PAGES_READ), MAX_TEXT),
            image=_webp(image),
            width=image.width,
            height=image.height,
        )


class PdfText(BaseModel):
    """The title and the text of a PDF."""

    model_config = ConfigDict(frozen=True)

    title: str | None
    text: str


def read_text(data: bytes, *, max_pages: int = 2000, max_characters: int = 5_000_000) -> PdfText:
    """The text of a PDF, up to that many pages and characters.

    Raises: DataError when it cannot be read; ConfigError when packages are missing.
    """
    if not data:
        raise DataError("the PDF is empty")
    with _opened(data) as document:
        title = _line(document.get_metadata_dict().get("Title"))
        return PdfText(title=title, text=_text(document, min(len(document), max_pages), max_characters))


@contextmanager
def _opened(content: Path | bytes) -> Generator[Any]:
    pdfium = _pdfium()
    try:
        with closing(pdfium.PdfDocument(content)) as document:
            yield document
    except pdfium.PdfiumError as error:
        reason = str(error)
        if "password" in reason.lower() or "security" in reason.lower():
            raise DataError("the PDF is protected by a password: save it without one") from error
        raise DataError("the file is truncated or damaged, or not a PDF") from error


def _render(document: Any, width: int) -> Any:
    with closing(document[0]) as page:
        wide, tall = page.get_size()
        if not (_SMALLEST <= wide <= _LARGEST and _SMALLEST <= tall <= _LARGEST):
            raise DataError(f"the first page of the PDF is {wide:g} x {tall:g} points large")
        scale = min(width / wide, width * _TALLEST / tall)
        if not math.isfinite(scale) or min(wide, tall) * scale < 1:
            raise DataError(f"the first page of the PDF is {wide:g} x {tall:g} points large")
        with closing(page.render(scale=scale)) as bitmap:
            return bitmap.to_pil().convert("RGB")


def _text(document: Any, pages: int, most: int) -> str:
    """The text of the first pages; unreadable pages are skipped."""
    pdfium = _pdfium()
    parts: list[str] = []
    left = most
    for number in range(pages):
        try:
            with closing(document[number]) as page, closing(page.get_textpage()) as text:
                parts.append(_plain(text.get_text_range(0, min(text.count_chars(), left))))
        except pdfium.PdfiumError:
            continue
        left -= len(parts[-1])
        if left <= 0:
            break
    return "\n\n".join(part for part in parts if part)[:most]


def _plain(text: str) -> str:
    """Lines of visible text: without surrogates, which cannot be stored, and control characters."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore").replace("\r\n", "\n")
    return "".join(char for char in whole if char.isprintable() or char in "\n\t").strip()


def _line(text: str | None) -> str | None:
    return " ".join(_plain(text or "").split())[:500] or None


def _webp(image: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", quality=80, method=4)
    return out.getvalue()


def _pdfium() -> Any:
    """Raises: ConfigError with the command that installs it."""
    try:
        import_module("PIL.Image")
        return import_module("pypdfium2")
    except ImportError as error:
        raise ConfigError(MISSING) from error
