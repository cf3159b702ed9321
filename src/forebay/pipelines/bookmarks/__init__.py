"""Bookmarks: save a link, get a rich page."""

from forebay.packages import Command, PipelinePackage

package = PipelinePackage(
    "bookmarks",
    __name__,
    pipelines=("steps", "imports"),
    routes=("routes.bookmarks", "routes.bookmark_tasks"),
    settings="settings:BookmarksSettings",
    commands={"bookmarks": Command("commands", "Save, find, import and export links.")},
)
