"""The pipelines that come with forebay."""

from forebay.pipelines.bookmark_imports import bookmark_imports
from forebay.pipelines.bookmarks import bookmarks
from forebay.pipelines.catalogue_rows import catalogue_rows
from forebay.pipelines.housekeeping import housekeeping
from forebay.pipelines.sheet_exports import sheet_exports
from forebay.pipelines.sheet_intake import sheet_intake
from forebay.pipelines.sheet_scans import sheet_scans
from forebay.pipelines.sheets import sheet_images, sheets

__all__ = [
    "bookmark_imports",
    "bookmarks",
    "catalogue_rows",
    "housekeeping",
    "sheet_exports",
    "sheet_images",
    "sheet_intake",
    "sheet_scans",
    "sheets",
]
