"""The pipelines that come with forebay."""

from forebay.pipelines.bookmark_imports import bookmark_imports
from forebay.pipelines.bookmarks import bookmarks
from forebay.pipelines.housekeeping import housekeeping

__all__ = ["bookmark_imports", "bookmarks", "housekeeping"]
