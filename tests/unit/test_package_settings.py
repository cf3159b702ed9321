"""The settings of an installed package are read, checked, listed and documented like those of forebay."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from forebay.cli import cli
from forebay.cli._common import load_own_settings, unknown_variables
from forebay.errors import InvalidField
from forebay.packages import failures, packages, settings_classes
from tests._packages import SETTINGS, installed, write_package

ROOT = Path(__file__).parents[2]


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    write_package(tmp_path, 'settings="settings:OrdersSettings"', settings=SETTINGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOREBAY_DATABASE_URL", "postgresql://nowhere/")
    monkeypatch.setattr("forebay.log.configure", lambda *_, **__: None)  # it would affect the tests after this one
    with installed(tmp_path):
        yield


def test_config_lists_them(orders: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FOREBAY_ORDER_DAYS", "3")
    monkeypatch.setenv("FOREBAY_ORDERS_DAY", "4")
    cli.main(["config", "--json"], standalone_mode=False)
    shown = json.loads(capsys.readouterr().out)
    (line,) = [line for line in shown["settings"] if line["package"] == "orders"]
    meaning = "how long an order may take"
    expected = {"variable": "FOREBAY_ORDERS_DAYS", "value": 3, "source": "environment", "meaning": meaning}
    assert line == {"package": "orders", "default": 7, "is_secret": False, **expected}
    assert unknown_variables()["FOREBAY_ORDERS_DAY"].endswith("did you mean FOREBAY_ORDERS_DAYS?")


def test_they_are_built_and_checked_at_the_start(orders: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = settings_classes()["orders"]
    monkeypatch.setenv("FOREBAY_ORDERS_DAYS", "5")
    settings = load_own_settings()
    monkeypatch.setenv("FOREBAY_ORDERS_DAYS", "0")
    assert settings.of(kind).model_dump() == {"days": 5}
    with pytest.raises(InvalidField, match=r"^FOREBAY_ORDERS_DAYS: must be at least 1; it is '0'$"):
        load_own_settings()


def test_the_reference_has_a_section_for_them(orders: None) -> None:
    page: str = runpy.run_path(str(ROOT / "scripts" / "reference_docs.py"))["settings_page"]()
    section = page.partition("\n## Package orders\n\n")[2].splitlines()
    meaning = "how long an order may take; also `FOREBAY_ORDER_DAYS`"
    assert section[2:] == [f"| `FOREBAY_ORDERS_DAYS` | `7` | whole number, at least 1 | {meaning} |"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("FOREBAY_ORDERS_", "FOREBAY_", "orders has settings that begin with FOREBAY_, not with FOREBAY_ORDERS_"),
        ("FOREBAY_ORDER_DAYS", "FOREBAY_LISTEN", "orders reads FOREBAY_LISTEN, which is a setting of forebay"),
        ("FOREBAY_ORDER_DAYS", "FOREBAY_DB_P50_MS", "orders reads FOREBAY_DB_P50_MS, which is a setting of sheets"),
    ],
)
def test_a_variable_has_one_owner(tmp_path: Path, old: str, new: str, reason: str) -> None:
    write_package(tmp_path, 'settings="settings:OrdersSettings"', settings=SETTINGS.replace(old, new))
    with installed(tmp_path):
        assert {"bookmarks", "sheets"} <= settings_classes().keys()
        assert "orders" not in settings_classes()
        assert [failure.reason for failure in failures()] == [f"DefinitionError: {reason}"]
        assert "orders" not in [package.name for package in packages()]
