"""Pipeline packages of somebody else, installed for the time of a test: found by their entry points."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import forebay.cli
from forebay import packages
from forebay.db import schema_parts

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
    made = f'package = PipelinePackage("orders", __name__, {declared})'
    package = f"from forebay.packages import PipelinePackage\n{made}\n"
    files = {f"{name}.py": text for name, text in {"__init__": package, **modules}.items()}
    write_distribution(folder, "orders", files, "orders = orders:package")


def write_distribution(folder: Path, name: str, files: Mapping[str, str], entry_points: str) -> None:
    """A distribution with a package of the same name, which has these files."""
    for path, text in files.items():
        file = folder / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{packages.GROUP}]\n{entry_points}\n", "utf-8")


@contextmanager
def installed(folder: Path) -> Iterator[Installed]:
    """With the distributions of a folder, those that are there and those that are added."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        forget_packages()
        try:
            yield Installed(folder)
        finally:
            for name, module in list(sys.modules.items()):
                if str(getattr(module, "__file__", "")).startswith(str(folder)):
                    del sys.modules[name]
            forget_packages()


class Installed:
    """Adds distributions to those that are installed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, files: Mapping[str, str], entry_points: str | None = None) -> None:
        points = f"{name} = {name}:package" if entry_points is None else entry_points
        write_distribution(self._folder, name, files, points)
        forget_packages()

    def change(self, name: str, files: Mapping[str, str | None]) -> None:
        """Write these files of a distribution, or delete those without a text."""
        for path, text in files.items():
            file = self._folder / name / path
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
        forget_packages()

    def remove(self, name: str) -> None:
        """Uninstall a distribution; what was imported of it stays in this process."""
        shutil.rmtree(self._folder / f"{name}-1.0.dist-info")
        shutil.rmtree(self._folder / name)
        forget_packages()


def forget_packages() -> None:
    """Let forebay look for packages again."""
    packages._registry.cache_clear()  # pyright: ignore[reportPrivateUsage]
    forebay.cli.commands.cache_clear()
    schema_parts.package_parts.cache_clear()
    schema_parts._migrations.cache_clear()  # pyright: ignore[reportPrivateUsage]
    schema_parts._routine_files.cache_clear()  # pyright: ignore[reportPrivateUsage]
