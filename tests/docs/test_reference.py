"""The reference is what the code says, and it is noticed when it is not."""

from __future__ import annotations

from inspect import ismodule
from pathlib import Path
from types import ModuleType

import pytest

import forebay
from forebay.cli import commands as all_commands
from forebay.settings import Settings
from scripts import http_docs, metrics_docs, python_docs, reference_docs
from tests.docs._blocks import ROOT

REFERENCE = ROOT / "docs" / "reference"


def test_every_setting_and_command_is_there() -> None:
    settings = (REFERENCE / "settings.md").read_text("utf-8")
    assert not [name for name in Settings.model_fields if f"| `FOREBAY_{name.upper()}` |" not in settings]
    assert "| unset | whole number, at least 1 | maximum tasks of one owner" in settings
    assert "| unset | secret text, at least 16 characters | token that Prometheus" in settings
    assert "| unset | `required`, `preferred`, `off` | sandbox" in settings
    commands = (REFERENCE / "cli.md").read_text("utf-8")
    assert not [name for name in [*all_commands(), "users add"] if f"\n## forebay {name}\n" not in commands]


def test_a_stale_page_is_noticed_and_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference_docs, "TARGET", tmp_path)

    def run(*options: str) -> int:
        monkeypatch.setattr("sys.argv", ["script", *options])
        return reference_docs.main()

    assert run() == 0
    assert run("--check") == 0
    page = tmp_path / "settings.md"
    page.write_text(page.read_text("utf-8").replace("FOREBAY_LISTEN", "FOREBAY_HEAR"), "utf-8")
    assert run("--check") == 1
    assert "settings.md is out of date: run `make reference`" in capsys.readouterr().out


@pytest.mark.parametrize("script", [http_docs, metrics_docs, python_docs], ids=lambda script: script.__name__)
def test_stale_pages_of_routes_metrics_and_names_are_noticed(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, made = tmp_path / script.TARGET.name, script.page()
    monkeypatch.setattr(script, "TARGET", page)
    monkeypatch.setattr(script, "page", lambda: made)
    monkeypatch.setattr("sys.argv", ["script"])
    assert script.main() == 0
    monkeypatch.setattr("sys.argv", ["script", "--check"])
    assert script.main() == 0
    page.write_text(page.read_text("utf-8").replace("# ", "## ", 1), "utf-8")
    assert script.main() == 1
    assert f"{page.name} is out of date: run `make reference`" in capsys.readouterr().out


def test_every_public_name_is_there_and_nothing_of_this_process() -> None:
    page = (REFERENCE / "python.md").read_text("utf-8")
    headings = {name: "## forebay." if ismodule(getattr(forebay, name)) else "### " for name in forebay.__all__}
    assert not [name for name, heading in headings.items() if f"\n{heading}{name}\n" not in page]
    assert " at 0x" not in page
    assert "environ({" not in page
