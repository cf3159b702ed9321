"""What the first start shows of sheets: a catalogue of invented products, and a sheet of rows to look up in it."""

from __future__ import annotations

from importlib import resources


def demo_catalogue() -> bytes:
    """A catalogue of 200 products, as CSV."""
    return _read("catalogue.csv")


def demo_sheet() -> bytes:
    """60 rows as people write them, as CSV: most are in the catalogue, two are not, one is broken."""
    return _read("sheet.csv")


def _read(name: str) -> bytes:
    return resources.files("forebay.pipelines.sheets").joinpath("demo_files", name).read_bytes()
