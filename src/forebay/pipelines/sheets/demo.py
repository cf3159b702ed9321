"""The demo of sheets: a catalogue of fictional products, and a sheet whose rows match them."""

from __future__ import annotations

from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.db.pool import Connection
    from forebay.settings import Settings

_AFTER_CATALOGUE = 10.0  # seconds: by then the catalogue is loaded


async def submit_demo(conn: Connection, settings: Settings, owner: str) -> str | None:
    """Submit a catalogue, and a sheet to match with it once it is loaded; needs a store."""
    if find_spec("obstore") is None:
        return None
    from forebay.cli._pipelines import make_known  # noqa: PLC0415 - only the first start needs all this
    from forebay.intake.db import FileTerms, NewFile  # noqa: PLC0415
    from forebay.intake.local_files import LocalFile, submit_file  # noqa: PLC0415
    from forebay.pipelines.sheets.catalogue_rows import catalogue_rows  # noqa: PLC0415
    from forebay.pipelines.sheets.files import FILES  # noqa: PLC0415
    from forebay.pipelines.sheets.intake import sheet_intake  # noqa: PLC0415
    from forebay.pipelines.sheets.steps import sheets  # noqa: PLC0415
    from forebay.storage import open_store  # noqa: PLC0415

    await make_known(conn, settings, sheet_intake, sheets, catalogue_rows)
    store, products, rows = open_store(settings), demo_catalogue(), demo_sheet()
    catalogue = LocalFile(NewFile("demo-catalogue.csv", len(products), {"catalogue": "demo"}), products)
    await submit_file(FILES, conn, store, owner, catalogue, FileTerms("demo catalogue", priority=10))
    sheet = LocalFile(NewFile("demo-sheet.csv", len(rows)), rows, delay=_AFTER_CATALOGUE)
    added = await submit_file(FILES, conn, store, owner, sheet, FileTerms("demo sheet"))
    return f"job {added.job_id} with rows to look up"


def demo_catalogue() -> bytes:
    """A catalogue of 200 products, as CSV."""
    return _read("catalogue.csv")


def demo_sheet() -> bytes:
    """60 rows as CSV: most match the catalogue, two do not, one is invalid."""
    return _read("sheet.csv")


def _read(name: str) -> bytes:
    return resources.files("forebay.pipelines.sheets").joinpath("demo_files", name).read_bytes()
