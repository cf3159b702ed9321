"""The reference is what the code says, and it is noticed when it is not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from forebay.cli import commands as all_commands
from forebay.settings import Settings
from tests.docs._blocks import ROOT

REFERENCE = ROOT / "docs" / "reference"


def test_every_setting_and_command_is_there() -> None:
    settings = (REFERENCE / "settings.md").read_text("utf-8")
    assert not [name for name in Settings.model_fields if f"| `FOREBAY_{name.upper()}` |" not in settings]
    commands = (REFERENCE / "cli.md").read_text("utf-8")
    assert not [name for name in [*all_commands(), "users add"] if f"\n## forebay {name}\n" not in commands]


def test_a_stale_page_is_noticed_and_written_anew(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(ROOT / "scripts" / "reference_docs.py", tmp_path / "scripts")

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, script, *options], capture_output=True, text=True, check=False)

    assert run().returncode == 0
    assert run("--check").returncode == 0
    page = tmp_path / "docs" / "reference" / "settings.md"
    page.write_text(page.read_text("utf-8").replace("FOREBAY_LISTEN", "FOREBAY_HEAR"), "utf-8")
    stale = run("--check")
    assert stale.returncode == 1
    assert (
        "docs/reference/settings.md is not what the code says: run `python scripts/reference_docs.py`" in stale.stdout
    )
