"""What the steps of bookmarks can do on this machine. A worker on another machine may have more, or less."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from forebay.services.browser.executable import find_browser

if TYPE_CHECKING:
    from forebay.settings import Settings


def features(settings: Settings) -> dict[str, bool]:
    return {
        "browser": find_browser(settings) is not None,
        "caption": bool(settings.caption_url),
        "ocr": find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None,
    }
