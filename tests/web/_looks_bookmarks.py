"""The pages of bookmarks, and of saving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web._marks import collection, unread
from tests.web._pages import Look

if TYPE_CHECKING:
    from tests.web._browser import Watched


def select_two(page: Watched) -> None:
    for key in "jxjx":
        page.page.keyboard.press(key)
    page.page.get_by_text("2 selected").wait_for()


def open_tags(page: Watched) -> None:
    page.page.get_by_role("button", name="Tags").click()
    page.page.get_by_role("dialog").wait_for()


def shown(page: Watched) -> None:
    page.page.get_by_role("button", name="Restore").first.wait_for()


LOOKS = [
    Look("/bookmarks", "empty", "Bookmarks"),
    Look("/bookmarks", "selection", "Bookmarks", collection, after=select_two),
    Look("/bookmarks?view=list&q=water", "search", "Bookmarks", collection),
    Look("/bookmarks?view=table", "table", "Bookmarks", collection, after=select_two),
    Look("/bookmarks?q=nothingness", "nothing matches", "Bookmarks"),
    Look("/bookmarks?open={mark}", "panel", "Bookmarks", collection),
    Look("/bookmarks/{mark}?tab=facts", "facts", "example.org/mill", unread),
    Look("/bookmarks/{pictured}?tab=picture", "picture", "The water wheel", collection),
    Look("/bookmarks/{mark}?tab=steps", "steps", "How a water mill works", collection, after=open_tags),
    Look("/bookmarks/999", "gone", "Bookmark", allowed=frozenset({404})),
    Look("/bookmarks/tags", "lively", "Tags", unread),
    Look("/bookmarks/trash", "lively", "Trash", unread, after=shown),
    Look("/bookmarks/import", "begin", "Import and export"),
    Look("/save", "begin", "Save a link"),
]
