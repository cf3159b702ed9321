"""The pages of sheets and their states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.web._pages import Look
from tests.web._sheets import sheet_with_rows

if TYPE_CHECKING:
    from tests.web._browser import Watched
    from tests.web.conftest import Site


def lamps(site: Site) -> dict[str, str]:
    return {"job": sheet_with_rows(site, 20_000)}


def broken_upload(site: Site) -> dict[str, str]:
    """A file of which nothing has come yet."""
    answer = site.api().post("/api/uploads", headers={"upload-length": "5000", "tus-resumable": "1.0.0"})
    return {"job": str(answer.json()["jobId"])}


def open_row(page: Watched) -> None:
    page.page.get_by_role("button", name="3", exact=True).click()
    page.page.get_by_role("region", name="Row 3").get_by_text("In the file").wait_for()


def select_rows(page: Watched) -> None:
    page.page.get_by_label("Select row 2", exact=True).check()
    page.page.get_by_role("region", name="Selected rows").wait_for()


LOOKS = [
    Look("/sheets", "empty", "Sheets"),
    Look("/sheets", "lively", "Sheets", lambda site: lamps(site) | broken_upload(site)),
    Look("/sheets/new", "empty", "New sheet"),
    Look("/sheets/new?job={job}", "interrupted", "New sheet", broken_upload),
    Look("/sheets/{job}", "done", "stock.csv", lamps, after=select_rows),
    Look("/sheets/{job}", "row", "stock.csv", lamps, after=open_row),
    Look('/sheets/{job}?status=["SKIPPED"]', "nothing matches", "stock.csv", lamps),
    Look("/sheets/{job}?tab=exports", "no exports", "stock.csv", lamps),
    Look("/sheets/{job}?tab=overview", "overview", "stock.csv", lamps),
    Look("/sheets/{job}?tab=file", "file", "stock.csv", lamps),
    Look("/sheets/999", "gone", "Sheet 999", allowed=frozenset({404})),
    Look("/sheets/catalogues", "empty", "Catalogues"),
    Look("/sheets/providers", "unused", "Providers"),
    Look("/sheets/sources", "empty", "Sources"),
]
