"""The pages of articles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web._articles import change, library
from tests.web._pages import Look

if TYPE_CHECKING:
    from tests.web._browser import Watched
    from tests.web.conftest import Site


def behind(site: Site) -> dict[str, str]:
    """Somebody has saved a version after the draft was begun."""
    values = library(site)
    change(site, values["article"], content="A mill, said shortly.", message="Says it shortly")
    return values


def show_preview(page: Watched) -> None:
    page.page.get_by_role("button", name="Preview").click()
    page.page.get_by_role("table").wait_for()


def show_both(page: Watched) -> None:
    page.page.get_by_role("button", name="Compare both").click()
    page.page.get_by_role("region", name="Changes").wait_for()


LOOKS = [
    Look("/articles", "empty", "Articles"),
    Look("/articles", "lively", "Articles", library),
    Look("/articles?state=failed", "failed", "Articles", library),
    Look("/articles/new", "begin", "New article"),
    Look("/articles/{article}", "read", "How a water mill works", library),
    Look("/articles/{bread}", "not embedded", "Baking bread at home", library),
    Look("/articles/{article}?tab=edit", "edit", "How a water mill works", library, after=show_preview),
    Look("/articles/{article}?tab=versions", "versions", "How a water mill works", library),
    Look("/articles/{article}?tab=edit", "conflict", "How a water mill works", behind, after=show_both),
    Look("/articles/import", "begin", "Import articles"),
    Look("/articles/embeddings", "lively", "Embeddings", library),
    Look("/articles/999", "gone", "Article", allowed=frozenset({404})),
]
