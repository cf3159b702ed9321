"""A headless browser: screenshots, rendered HTML, and the kind of a page.

    async with open_browser(settings, egress) as browser:
        capture = await browser.capture("https://example.com/")

Chromium is controlled by its DevTools protocol over a pipe; all of its traffic goes through the egress proxy.
"""

from __future__ import annotations

from forebay.services.browser.browser import Browser, open_browser
from forebay.services.browser.captures import Capture, CaptureKind, Shot
from forebay.services.browser.executable import INSTALL, find_browser, require_browser

__all__ = ["INSTALL", "Browser", "Capture", "CaptureKind", "Shot", "find_browser", "open_browser", "require_browser"]
