"""Reads web pages: kind, title, dates, images, icons, feeds and readable text.

Plain functions without I/O for untrusted bytes: callers run them in a limited process.
"""

from __future__ import annotations

from forebay.services.pages.facts import Feed, Icon, PageFacts, PagePicture
from forebay.services.pages.kinds import PageKind
from forebay.services.pages.reading import read_page, read_text

__all__ = ["Feed", "Icon", "PageFacts", "PageKind", "PagePicture", "read_page", "read_text"]
