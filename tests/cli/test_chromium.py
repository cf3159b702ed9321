"""Chromium: what `forebay doctor` finds of it, and how `forebay up` installs it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from forebay.cli._chromium import install_chromium
from forebay.services.browser import find_browser
from forebay.settings import Settings
from tests.cli._run import Cli
from tests.cli.test_doctor import findings

_APT = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
  *update*) touch {lists};;
  *install*) [ -e {lists} ] || { echo "E: Unable to locate package" >&2; exit 100; }
    printf '#!/bin/sh\\n' > {folder}/chromium-headless-shell; chmod +x {folder}/chromium-headless-shell;;
esac
"""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Chromium; programs in this folder are all that it has."""
    monkeypatch.setattr("forebay.services.browser.executable._PLACES", ())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/nowhere")
    return folder


def installed(**given: bool) -> str:
    said = io.StringIO()
    install_chromium(Settings(_env_file=None, **given), Console(file=said, width=300))  # type: ignore[call-arg, arg-type]
    return said.getvalue()


def apt(folder: Path, text: str = _APT) -> Path:
    log = folder / "log"
    made = text.replace("{log}", str(log)).replace("{lists}", str(folder / "lists")).replace("{folder}", str(folder))
    (folder / "apt-get").write_text(made.replace("touch ", ": > ").replace("chmod", "/bin/chmod"))
    (folder / "apt-get").chmod(0o755)
    return log


def test_it_is_installed(bare: Path) -> None:
    log = apt(bare)
    assert "Chromium for screenshots: installed" in installed()
    assert find_browser(Settings()) == str(bare / "chromium-headless-shell")
    assert [line.split()[-1] for line in log.read_text().splitlines()] == [
        "chromium-headless-shell",
        "update",
        "chromium-headless-shell",
    ]
    assert installed() == ""  # once is enough


def test_it_cannot_be_installed(bare: Path) -> None:
    apt(bare, '#!/bin/sh\necho "E: no space left" >&2\nexit 100\n')
    said = installed()
    assert "not installed (E: no space left); everything else works" in said
    assert "apt-get install --no-install-recommends chromium-headless-shell" in said


def test_without_apt_or_the_right_to_use_it(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Chromium is not installed. On Debian or Ubuntu: apt-get install" in installed()
    log = apt(bare)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "On Debian or Ubuntu" in installed()
    assert not log.exists()


def test_it_can_be_switched_off(bare: Path) -> None:
    log = apt(bare)
    assert installed(browser_install=False) == ""
    assert not log.exists()


@pytest.mark.skipif(find_browser(Settings()) is None, reason="no Chromium is installed")
def test_doctor_starts_it(cli: Cli) -> None:
    _, found = findings(cli, FOREBAY_BROWSER_PATH="")
    assert found["browser"][0]["text"].startswith("Chromium ")


def test_doctor_without_one(cli: Cli) -> None:
    _, found = findings(cli, FOREBAY_BROWSER_PATH="/nowhere/chromium")
    assert found["browser"][0]["level"] == "WARN"
    assert "FOREBAY_BROWSER_PATH is /nowhere/chromium" in found["browser"][0]["text"]
