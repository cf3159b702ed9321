"""A pipeline package of somebody else, installed for the time of a test: found by its entry point."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forebay.packages import packages

SETTINGS = """
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from forebay.base_settings import OtherName, PackageSettings

class OrdersSettings(PackageSettings):
    model_config = SettingsConfigDict(env_prefix="FOREBAY_ORDERS_")
    other_names = {"FOREBAY_ORDER_DAYS": OtherName("days")}
    days: int = Field(default=7, ge=1, description="how long an order may take")
"""


def write_package(folder: Path, declared: str, **modules: str) -> None:
    """The distribution `orders`; `declared` is what its PipelinePackage has besides the name."""
    home, about = folder / "orders", folder / "orders-1.0.dist-info"
    home.mkdir()
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: orders\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[forebay.pipelines]\norders = orders:package\n")
    made = f'package = PipelinePackage("orders", __name__, {declared})'
    package = f"from forebay.packages import PipelinePackage\n{made}\n"
    for name, text in {"__init__": package, **modules}.items():
        (home / f"{name}.py").write_text(text)


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        packages.cache_clear()
        try:
            yield
        finally:
            packages.cache_clear()
            for name in [name for name in sys.modules if name.partition(".")[0] == "orders"]:
                del sys.modules[name]
